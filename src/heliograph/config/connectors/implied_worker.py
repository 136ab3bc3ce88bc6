"""Makes up the worker of a connector that is given without one, as in MM2's dedicated mode.

The worker's cluster is the one that records are written to. It stores offsets there in
`mm2-offsets.<source>.internal`; its group is `<source>-mm2`.
"""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.connectors.worker import WorkerConfig, worker_of
from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.kubernetes import KubernetesSecrets
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.resolve.layers import is_client_config
from heliograph.errors import ConfigError

_TARGET = "target.cluster."
_SERVERS = "bootstrap.servers"


def implied_worker(
    connector: NamedConnector, environment: Mapping[str, str], secrets: KubernetesSecrets
) -> WorkerConfig:
    """Raises nothing: problems of the connector's settings are reported when the connector is read."""
    own = connector.file.properties
    source = own.get("source.cluster.alias", Property("source", 0)).value.strip()
    settings = _defaults(source)
    settings |= {name: found for name, found in own.items() if name.startswith("config.providers")}
    plain = PropertiesFile(name=connector.file.name, properties=dict(settings))
    for name, found in own.items():
        its = name.removeprefix(_TARGET)
        if its != name and is_client_config(its) and found.value.strip():
            settings[its] = found
            if its != _SERVERS:
                settings[f"producer.{its}"] = found
    if (override := own.get(f"producer.override.{_SERVERS}")) is not None:
        settings[_SERVERS] = override
    try:
        return worker_of(PropertiesFile(name=plain.name, properties=settings), environment, secrets)
    except ConfigError:
        return worker_of(plain, environment, secrets)


def _defaults(source: str) -> dict[str, Property]:
    """Internal topics get the brokers' default replication factor, since the number of brokers is unknown."""
    found = {"group.id": f"{source}-mm2"}
    for kind, plural in (("offset", "offsets"), ("config", "configs"), ("status", "status")):
        found[f"{kind}.storage.topic"] = f"mm2-{plural}.{source}.internal"
        found[f"{kind}.storage.replication.factor"] = "-1"
    return {name: Property(value, 0) for name, value in found.items()}
