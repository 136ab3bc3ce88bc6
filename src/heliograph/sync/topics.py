"""Creates the topics and partitions on the target that `plan/topics.py` plans."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from heliograph.client.admin.topic_configs import describe_topic_configs
from heliograph.client.admin.topics import NewTopic, create_partitions, create_topics
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.counted import counted
from heliograph.errors import BrokerError
from heliograph.plan.configs import new_topic_configs
from heliograph.plan.topic_outcome import MirroredTopics, TopicIds, outcome
from heliograph.plan.topics import (
    AddPartitions,
    CreateTopic,
    TopicAction,
    TopicPlan,
    plan_routed,
    plan_topics,
)
from heliograph.plan.unmatched import unmatched_topics
from heliograph.policy.replication import why_endless
from heliograph.policy.topic_filter import TopicFilter
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: A request is one metadata transaction, which brokers limit to 10,000 records.
_TOPICS_PER_REQUEST = 100
_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTopics:
    """The plan, ready to be carried out except for remote topics in `failed`, whose source settings could
    not be read. `refusals` are source topics that are not mirrored because of a loop; `unmatched` items of
    `topics` match nothing."""

    plan: TopicPlan
    source: Mapping[str, int]
    failed: Mapping[str, BrokerError]
    refusals: Mapping[str, str]
    unmatched: Mapping[str, str]
    ids: TopicIds

    def outcome(self, refused: Mapping[str, BrokerError]) -> MirroredTopics:
        """`refused` maps remote topics to the target's errors."""
        mirrored = outcome(self.plan, self.source, {**self.failed, **refused})
        problems = {**mirrored.problems, **self.refusals, **self.unmatched}
        return replace(mirrored, problems=problems, ids=self.ids)


def sync_topics(
    flow: FlowConfig,
    topic_filter: TopicFilter,
    source: ClusterClient,
    target: ClusterClient,
    refused: Mapping[str, str] | None = None,
) -> MirroredTopics:
    """Create what is missing; a topic that cannot be created is reported, the others are mirrored.

    `refused` maps source topics that must not be mirrored (`plan/cycles.py`) to the reason. An existing
    topic is used as it is. One that cannot get all partitions of its source is mirrored for those that it
    has.
    """
    found = observe_topics(flow, topic_filter, source, target, refused)
    actions = [action for action in found.plan.actions if action.topic not in found.failed]
    failed = _carry_out(target, actions)
    failed = _without_brokers_own(flow, target, actions, failed)
    for action in actions:
        if action.topic not in failed:
            log.info("flow %s: %s", flow.name, _describe(action))
    made = found.outcome(failed)
    new = [a.topic for a in actions if isinstance(a, CreateTopic) and a.topic not in failed]
    return replace(made, ids=replace(made.ids, created=_ids_of_new(target, new)))


def ensure_routed_topics(
    flow: FlowConfig, source: ClusterClient, target: ClusterClient, wanted: Mapping[str, str]
) -> dict[str, str]:
    """Create topics that a lane routes records to, by the rules of remote topics; `wanted` maps them to
    source topics. Returns the problems, by topic."""
    actions = plan_routed(
        wanted,
        source.refresh(set(wanted.values())).partitions,
        target.refresh(wanted).partitions,
        flow.replication_factor,
    )
    ready, failed = _with_configs(flow, source, actions)
    ready = [action for action in ready if action.topic not in failed]
    refused = _without_brokers_own(flow, target, ready, _carry_out(target, ready))
    for action in ready:
        if action.topic not in refused:
            log.info("flow %s: %s, for records routed to it", flow.name, _describe(action))
    problems = {
        topic: f"{topic}: records of {wanted[topic]} are routed to it, and it cannot be created: {error}"
        for topic, error in {**failed, **refused}.items()
    }
    there = target.refresh(problems).partitions if problems else {}
    return {topic: problem for topic, problem in problems.items() if topic not in there}


def _without_brokers_own(
    flow: FlowConfig,
    target: ClusterClient,
    actions: Sequence[TopicAction],
    failed: dict[str, BrokerError],
) -> dict[str, BrokerError]:
    """If a cluster is too small for the replication factor, MM2 continues, and its first record makes
    brokers create the topic, if auto.create.topics.enable is set. The same here; then missing partitions are
    added."""
    wanted = {
        action.topic: action.partitions
        for action in actions
        if isinstance(action, CreateTopic)
        and action.topic in failed
        and failed[action.topic].code == ErrorCode.INVALID_REPLICATION_FACTOR
    }
    if not wanted:
        return failed
    target.let_brokers_create(wanted)
    _ids_of_new(target, list(wanted))
    made = {
        topic: target.metadata.partitions[topic]
        for topic in wanted
        if topic in target.metadata.partitions
    }
    too_few = {topic: wanted[topic] for topic, count in made.items() if count < wanted[topic]}
    grown = create_partitions(target, too_few) if too_few else {}
    for topic in made:
        log.warning(
            "flow %s: %s: created by the brokers of %s with their default replication factor; %s is not "
            "possible",
            *(flow.name, topic, target.config.alias, flow.replication_factor),
        )
    return {**{topic: each for topic, each in failed.items() if topic not in made}, **grown}


def _ids_of_new(target: ClusterClient, topics: Sequence[str]) -> dict[str, str | None]:
    """The ids of new topics; brokers know these a moment after their controller."""
    backoff, deadline = Backoff(), time.monotonic() + _PATIENCE_SECONDS
    while topics:
        metadata = target.refresh(topics)
        if topics[0] in metadata.partitions or time.monotonic() > deadline:
            return {topic: metadata.topic_id(topic) for topic in topics}
        time.sleep(backoff.next())
    return {}


def observe_topics(
    flow: FlowConfig,
    topic_filter: TopicFilter,
    source: ClusterClient,
    target: ClusterClient,
    refused: Mapping[str, str] | None = None,
) -> ObservedTopics:
    """Compare the topics; changes nothing. `refused` as in `sync_topics`."""
    refused = refused or {}
    on_source = source.refresh().partitions
    on_target = target.refresh().partitions
    ids = TopicIds(
        source={topic: source.metadata.topic_id(topic) for topic in on_source},
        target={topic: target.metadata.topic_id(topic) for topic in on_target},
    )
    plan = plan_topics(
        on_source,
        on_target,
        lambda topic: topic not in refused and flow.should_replicate(topic, topic_filter),
        flow.target_topic,
        flow.replication_factor,
    )
    actions, failed = _with_configs(flow, source, plan.actions)
    return ObservedTopics(
        plan=replace(plan, actions=actions),
        source=on_source,
        failed=failed,
        refusals=refusals(flow, topic_filter, on_source, refused),
        unmatched=unmatched_topics(flow, topic_filter, on_source),
        ids=ids,
    )


def refusals(
    flow: FlowConfig,
    topic_filter: TopicFilter,
    on_source: Iterable[str],
    refused: Mapping[str, str],
) -> dict[str, str]:
    """Problems of topics in loops. Topics that a filter excludes are no problem."""
    problems = {topic: refused[topic] for topic in on_source if topic in refused}
    for topic in on_source:
        reason = why_endless(flow.policy, topic, flow.source)
        if reason is not None and flow.why_not_replicated(topic, topic_filter) == reason:
            problems[topic] = f"{topic}: not mirrored: {reason}"
    return problems


def _with_configs(
    flow: FlowConfig, source: ClusterClient, actions: Sequence[TopicAction]
) -> tuple[list[TopicAction], dict[str, BrokerError]]:
    """New topics are created with the source's settings: a compacted topic must never delete by time."""
    new = [action.source_topic for action in actions if isinstance(action, CreateTopic)]
    if not new:
        return list(actions), {}
    config_filter = flow.config_property_filter()
    described = describe_topic_configs(source, new)
    configs = {
        topic: new_topic_configs(entries, config_filter)
        for topic, entries in described.configs.items()
    }
    ready = [
        replace(action, configs=configs.get(action.source_topic, {}))
        if isinstance(action, CreateTopic)
        else action
        for action in actions
    ]
    errors = {
        action.topic: described.failed[action.source_topic]
        for action in actions
        if action.source_topic in described.failed
    }
    return ready, errors


def _carry_out(target: ClusterClient, actions: Sequence[TopicAction]) -> dict[str, BrokerError]:
    failed: dict[str, BrokerError] = {}
    new = [
        NewTopic(
            name=action.topic,
            partitions=action.partitions,
            replication_factor=action.replication_factor,
            configs=action.configs,
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
        return f"created {action.topic} with {counted(action.partitions, 'partition')}"
    return f"{action.topic}: {action.partitions_now} -> {counted(action.partitions, 'partition')}"
