"""Handlers of /connector-plugins: plugins, their settings, validation. Upstream: ConnectorPluginsResource."""

from __future__ import annotations

from heliograph.config.connectors.connector_class import connector_class
from heliograph.config.connectors.definitions import converter_type, plugin_definitions
from heliograph.config.connectors.plugins import (
    KAFKA_VERSION,
    PLUGINS,
    BadVersion,
    PluginNotFound,
    check_version,
)
from heliograph.config.connectors.rest import RestConfig
from heliograph.web.endpoints.bodies import read_config
from heliograph.web.endpoints.rendering import definition_json, validation_json
from heliograph.web.endpoints.validating import infos_of
from heliograph.web.exchange import Refused, RestRequest, RestResponse, ok


class Plugins:
    def __init__(self, config: RestConfig) -> None:
        self._config = config

    def list(self, call: RestRequest) -> RestResponse:
        connectors_only = call.flag("connectorsOnly", default=True)
        return ok(
            [
                {"class": plugin.class_name, "type": plugin.type, "version": KAFKA_VERSION}
                for plugin in PLUGINS
                if plugin.type == "source" or not connectors_only
            ]
        )

    def config(self, call: RestRequest) -> RestResponse:
        name, version = call.path["plugin"], call.first("version")
        connector = connector_class(name)
        class_name = connector.java_name if connector else name
        if connector is None and name not in {plugin.class_name for plugin in PLUGINS}:
            raise Refused(404, f"Unknown plugin {name}.")
        try:
            check_version(class_name, version)
        except BadVersion:
            raise Refused(400, f"Invalid version specification: {version}") from None
        except PluginNotFound as e:
            raise Refused(400, str(e)) from None
        definitions = plugin_definitions(connector) if connector else (converter_type(),)
        return ok([definition_json(definition) for definition in definitions])

    def validate(self, call: RestRequest) -> RestResponse:
        config = read_config(call.entity())
        named, plugin = config.get("connector.class"), call.path["plugin"]
        if named is not None and not _alias(named).endswith(_alias(plugin)):
            raise Refused(
                400, f"Included connector type {named} does not match request type {plugin}"
            )
        return ok(validation_json(infos_of(config, self._config)))


def _alias(name: str) -> str:
    """Class names with and without the suffix Connector are the same."""
    short = name.removesuffix("Connector")
    return short or name
