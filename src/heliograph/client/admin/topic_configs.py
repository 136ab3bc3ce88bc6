"""Describes the settings of topics with the source of each value, and alters single settings (KIP-339)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError
from heliograph.wire import messages
from heliograph.wire.topic_configs import ConfigChange, ConfigEntry, ConfigSource

_TOPIC_RESOURCE = 2
_SET, _DELETE = 0, 1
_SOURCES = {source.value: source for source in ConfigSource}
#: A topic has about 35 settings, so a response has about half a megabyte.
_TOPICS_PER_REQUEST = 200


@dataclass(frozen=True, slots=True)
class DescribedConfigs:
    """Topics with their settings, and those that could not be described."""

    configs: dict[str, list[ConfigEntry]]
    failed: dict[str, BrokerError]


def describe_topic_configs(cluster: ClusterClient, topics: Iterable[str]) -> DescribedConfigs:
    """Topics with the same settings may share one list."""
    described = DescribedConfigs({}, {})
    entry = messages.DescribeConfigsRequest.DescribeConfigsResource
    requests = [
        messages.DescribeConfigsRequest(
            resources=[
                entry(resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None)
                for name in names
            ]
        )
        for names in _batches(topics)
    ]
    for response in cluster.call_any_all(requests):
        # The decoder returns one tuple for topics with the same settings; kept, so that ids are not reused.
        shared: dict[int, tuple[object, list[ConfigEntry]]] = {}
        for result in response.results:
            if result.error_code:
                described.failed[result.resource_name] = _error(cluster, result)
                continue
            configs = result.configs
            if id(configs) not in shared:
                shared[id(configs)] = (configs, [_entry(config) for config in configs])
            described.configs[result.resource_name] = shared[id(configs)][1]
    return described


def alter_topic_configs(
    cluster: ClusterClient, changes: Mapping[str, Sequence[ConfigChange]]
) -> dict[str, BrokerError]:
    """Change settings; a topic's changes take effect all or none. Returns the topics that failed."""
    failed: dict[str, BrokerError] = {}
    entry = messages.IncrementalAlterConfigsRequest.AlterConfigsResource
    for names in _batches(changes):
        request = messages.IncrementalAlterConfigsRequest(
            resources=[
                entry(
                    resource_type=_TOPIC_RESOURCE,
                    resource_name=name,
                    configs=[
                        entry.AlterableConfig(
                            name=change.name,
                            config_operation=_DELETE if change.value is None else _SET,
                            value=change.value,
                        )
                        for change in changes[name]
                    ],
                )
                for name in names
            ],
            validate_only=False,
        )
        for result in cluster.call_any(request).responses:
            if result.error_code:
                failed[result.resource_name] = _error(cluster, result)
    return failed


def _batches(topics: Iterable[str]) -> Iterable[Sequence[str]]:
    ordered = sorted(topics)
    size = _TOPICS_PER_REQUEST
    return (ordered[start : start + size] for start in range(0, len(ordered), size))


def _entry(config: Any) -> ConfigEntry:
    return ConfigEntry(
        config.name,
        config.value,
        _SOURCES.get(config.config_source, ConfigSource.OTHER),
        config.read_only,
        config.is_sensitive,
    )


def _error(cluster: ClusterClient, result: Any) -> BrokerError:
    return messages.broker_error(
        result.error_code,
        f"settings of topic {result.resource_name!r} on {cluster.config.alias}",
        result.error_message,
    )
