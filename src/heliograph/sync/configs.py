"""Applies the settings of source topics to remote topics, as `plan/configs.py` plans."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from heliograph.client.admin.topic_configs import alter_topic_configs, describe_topic_configs
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.plan.configs import plan_configs
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.topic_configs import ConfigChange, ConfigEntry

log = logging.getLogger(__name__)

_REMEDIES: Mapping[int, str] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: (
        "grant DESCRIBE_CONFIGS on source topics and DESCRIBE_CONFIGS, ALTER_CONFIGS on remote ones, "
        "or set sync.topic.configs.enabled=false"
    ),
    ErrorCode.INVALID_CONFIG: "keep the setting out with config.properties.exclude",
    ErrorCode.POLICY_VIOLATION: "keep the setting out with config.properties.exclude",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigDifferences:
    """Planned changes and current settings by remote topic; errors by source topic."""

    changes: dict[str, Sequence[ConfigChange]]
    present: Mapping[str, Sequence[ConfigEntry]]
    errors: dict[str, BrokerError]

    @property
    def problems(self) -> dict[str, str]:
        return _sentences(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanges:
    """Applied changes by remote topic; problems by source topic."""

    applied: dict[str, Sequence[ConfigChange]]
    problems: dict[str, str]


def sync_configs(
    flow: FlowConfig, topics: Mapping[str, str], source: ClusterClient, target: ClusterClient
) -> ConfigChanges:
    """Bring the settings of remote topics up to the source's. `topics`: source topic -> remote topic.

    A topic that fails is a problem, the others are synced. A topic that was deleted meanwhile is left to the
    next sync of topics.
    """
    found = observe_configs(flow, topics, source, target)
    refused = alter_topic_configs(target, found.changes)
    applied = {topic: its for topic, its in found.changes.items() if topic not in refused}
    for topic, changes in applied.items():
        log.info("flow %s: %s: %s", flow.name, topic, ", ".join(map(str, changes)))
    errors = found.errors | {t: refused[r] for t, r in topics.items() if r in refused}
    return ConfigChanges(applied=applied, problems=_sentences(errors))


def observe_configs(
    flow: FlowConfig, topics: Mapping[str, str], source: ClusterClient, target: ClusterClient
) -> ConfigDifferences:
    """Compare the settings; changes nothing. `topics`: source topic -> existing remote topic."""
    config_filter = flow.config_property_filter()
    with ThreadPoolExecutor(1) as meanwhile:  # most of the time is spent on the brokers
        on_target = meanwhile.submit(describe_topic_configs, target, topics.values())
        wanted = describe_topic_configs(source, topics)
    present = on_target.result()
    # Topics with the same settings share one list, and so the planned changes.
    planned: dict[tuple[int, int], list[ConfigChange]] = {}
    plans = {}
    for topic, entries in wanted.configs.items():
        there = present.configs.get(topics[topic])
        if there is None:
            continue
        key = (id(entries), id(there))
        if key not in planned:
            planned[key] = plan_configs(entries, there, config_filter)
        plans[topics[topic]] = planned[key]
    failed = {t: present.failed[r] for t, r in topics.items() if r in present.failed}
    return ConfigDifferences(
        changes={topic: changes for topic, changes in plans.items() if changes},
        present=present.configs,
        errors=failed | wanted.failed,
    )


def _sentences(errors: Mapping[str, BrokerError]) -> dict[str, str]:
    return {
        t: _sentence(e) for t, e in errors.items() if e.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    }


def _sentence(error: BrokerError) -> str:
    remedy = _REMEDIES.get(error.code)
    return f"{error}; {remedy}" if remedy else str(error)
