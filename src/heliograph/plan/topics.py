"""Plans the topics and partitions to create on the target, and finds topics that cannot be mirrored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic:
    """`replication_factor` -1: the target's default."""

    source_topic: str
    topic: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitions:
    source_topic: str
    topic: str
    partitions_now: int
    partitions: int


TopicAction = CreateTopic | AddPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    """`mirrored` maps source topics that can be mirrored once the actions are carried out to their remote
    topics; `problems` has the reasons for the others."""

    actions: list[TopicAction]
    mirrored: dict[str, str]
    problems: dict[str, str]


def plan_topics(
    source: Mapping[str, int],
    target: Mapping[str, int],
    should_replicate: Callable[[str], bool],
    naming: Callable[[str], str],
    replication_factor: int,
) -> TopicPlan:
    """Actions that bring `target` up to `source`, by topic name. Never shrinks, never deletes.

    `source` and `target` map topics to partition counts; `naming` gives the remote topic's name. A target
    topic with more partitions than its source is not changed: records keep their partition number, so the
    additional ones stay empty. Source topics with the same remote topic are not mirrored, none of them:
    mixed, their records could not be separated again. Law: planning again after all actions yields none.
    """
    names = {topic: naming(topic) for topic in sorted(filter(should_replicate, source))}
    problems = _collisions(names)
    mirrored = {topic: remote for topic, remote in names.items() if topic not in problems}
    actions: list[TopicAction] = []
    for topic, remote_topic in mirrored.items():
        wanted = source[topic]
        found = target.get(remote_topic)
        if found is None:
            actions.append(
                CreateTopic(
                    source_topic=topic,
                    topic=remote_topic,
                    partitions=wanted,
                    replication_factor=replication_factor,
                )
            )
        elif found < wanted:
            actions.append(
                AddPartitions(
                    source_topic=topic,
                    topic=remote_topic,
                    partitions_now=found,
                    partitions=wanted,
                )
            )
    return TopicPlan(actions=actions, mirrored=mirrored, problems=problems)


def plan_routed(
    wanted: Mapping[str, str],
    source: Mapping[str, int],
    target: Mapping[str, int],
    replication_factor: int,
) -> list[TopicAction]:
    """For topics that a chain routes records to, by the rules of remote topics; `wanted` maps each to the
    source topic whose records go there first."""
    plans = [
        plan_topics(
            {topic: source[topic]},
            target,
            lambda _: True,
            lambda _, name=routed: name,  # type: ignore[misc]
            replication_factor,
        )
        for routed, topic in sorted(wanted.items())
        if topic in source
    ]
    return [action for plan in plans for action in plan.actions]


def _collisions(names: Mapping[str, str]) -> dict[str, str]:
    by_remote: dict[str, list[str]] = {}
    for topic, remote_topic in names.items():
        by_remote.setdefault(remote_topic, []).append(topic)
    return {
        topic: f"{topic}: not mirrored, because {' and '.join(topics)} would all become "
        f"{remote_topic} on the target; rename one of them otherwise, or exclude it"
        for remote_topic, topics in by_remote.items()
        if len(topics) > 1
        for topic in topics
    }
