"""Which topics and partitions the target lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic:
    """`replication_factor` -1 leaves it to the target's default."""

    source_topic: str
    topic: str
    partitions: int
    replication_factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitions:
    source_topic: str
    topic: str
    partitions_now: int
    partitions: int


TopicAction = CreateTopic | AddPartitions


def plan_topics(
    source: Mapping[str, int],
    target: Mapping[str, int],
    should_replicate: Callable[[str], bool],
    naming: Callable[[str], str],
    replication_factor: int,
) -> list[TopicAction]:
    """Actions that bring `target` up to `source`, by topic name. Never shrinks, never deletes.

    `source` and `target` map topics to partition counts; `naming` gives the remote topic's name. A
    target topic with more partitions than its source is left as it is: records keep their partition
    number, so the surplus stays empty. Law: planning again after all actions yields nothing.
    """
    actions: list[TopicAction] = []
    for topic in sorted(filter(should_replicate, source)):
        wanted = source[topic]
        remote_topic = naming(topic)
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
    return actions
