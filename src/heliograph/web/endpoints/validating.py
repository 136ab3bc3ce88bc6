"""Validates a configuration that came through REST: Connect's rules, and what this worker permits."""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.connectors.field_limits import too_large
from heliograph.config.connectors.plugins import BadVersion, ConnectorNotFound
from heliograph.config.connectors.rest import RestConfig
from heliograph.config.connectors.validation import ConfigInfos, WrongOverride, refusal, validate
from heliograph.config.security.rest_allowlist import problems
from heliograph.web.exchange import Refused


def infos_of(config: Mapping[str, str | None], rest: RestConfig) -> ConfigInfos:
    """Raises Refused for a configuration that cannot be validated at all."""
    oversize = too_large(config)
    if oversize is not None:
        raise Refused(400, f"Connector configuration is too large: {oversize}")
    try:
        return validate(
            config,
            exactly_once=rest.exactly_once,
            not_permitted=list(problems(config, rest.permitted)),
        )
    except (ConnectorNotFound, BadVersion, WrongOverride) as e:
        raise Refused(400, str(e)) from None


def refuse_invalid(config: Mapping[str, str | None], rest: RestConfig) -> None:
    sentence = refusal(infos_of(config, rest))
    if sentence is not None:
        raise Refused(400, sentence)
