"""Checks which client settings a connector may override (KIP-458, KIP-1188), with Connect's message."""

from __future__ import annotations

from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options.values import parse_list
from heliograph.config.resolve.known_mistakes import FLOW_CLIENT

_SUFFIX = "ConnectorClientConfigOverridePolicy"
_PRINCIPAL = frozenset({"security.protocol", "sasl.jaas.config", "sasl.mechanism"})
_ALLOWLIST = "connector.client.config.override.allowlist"


def override_problems(worker: WorkerConfig, connector: PropertiesFile) -> list[str]:
    policy = worker.override_policy.rpartition(".")[2].removesuffix(_SUFFIX)
    if policy == "All":
        return []
    allowed = _allowed(policy, worker)
    return [
        f"{key}: The '{policy}' policy does not allow '{match['name']}' to be overridden in the connector "
        f"configuration. ({connector.where(key)})"
        for key in connector.properties
        if (match := FLOW_CLIENT.fullmatch(key)) and match["override"] and match["side"] is None
        if match["name"] not in allowed
    ]


def _allowed(policy: str, worker: WorkerConfig) -> frozenset[str]:
    if policy == "Principal":
        return _PRINCIPAL
    listed = worker.settings.get(_ALLOWLIST)
    return frozenset(parse_list(listed.value)) if policy == "Allowlist" and listed else frozenset()
