"""Brings the target's topics up to the source's: what `plan/topics.py` decides is done here."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.client.admin import NewTopic, create_partitions, create_topics
from heliograph.client.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.plan.topics import AddPartitions, CreateTopic, TopicAction, plan_topics
from heliograph.policy.topic_filter import TopicFilter

log = logging.getLogger(__name__)

#: Topics per request: a creation is one metadata transaction, and brokers bound its records at 10,000.
_TOPICS_PER_REQUEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredTopics:
    """Source topics that have their counterpart on the target, and what is wrong with the others."""

    partitions: dict[str, int]
    problems: dict[str, str]


def sync_topics(
    flow: FlowConfig, topic_filter: TopicFilter, source: ClusterClient, target: ClusterClient
) -> MirroredTopics:
    """Create what is missing; a topic that cannot be created is reported, the others are mirrored."""
    on_source = source.refresh().partitions
    on_target = target.refresh().partitions
    actions = plan_topics(
        on_source,
        on_target,
        lambda topic: flow.should_replicate(topic, topic_filter),
        flow.target_topic,
        flow.replication_factor,
    )
    failed = _carry_out(target, actions)
    problems = {}
    for action in actions:
        if action.topic in failed:
            problems[action.source_topic] = f"flow {flow.name}: {failed[action.topic]}"
            log.warning("flow %s: %s", flow.name, failed[action.topic])
        else:
            log.info("flow %s: %s", flow.name, _describe(action))
    mirrored = {
        topic: count
        for topic, count in on_source.items()
        if flow.should_replicate(topic, topic_filter) and topic not in problems
    }
    return MirroredTopics(partitions=mirrored, problems=problems)


def _carry_out(target: ClusterClient, actions: Sequence[TopicAction]) -> dict[str, BrokerError]:
    failed: dict[str, BrokerError] = {}
    new = [
        NewTopic(
            name=action.topic,
            partitions=action.partitions,
            replication_factor=action.replication_factor,
            configs={},
        )
        for action in actions
        if isinstance(action, CreateTopic)
    ]
    for start in range(0, len(new), _TOPICS_PER_REQUEST):
        failed |= create_topics(target, new[start : start + _TOPICS_PER_REQUEST])
    grown = {a.topic: a.partitions for a in actions if isinstance(a, AddPartitions)}
    if grown:
        failed |= create_partitions(target, grown)
    return failed


def _describe(action: TopicAction) -> str:
    if isinstance(action, CreateTopic):
        return f"created {action.topic} with {action.partitions} partitions"
    return f"{action.topic}: {action.partitions_now} -> {action.partitions} partitions"
