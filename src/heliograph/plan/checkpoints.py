"""Decides which groups are followed, and plans their checkpoints (`MirrorCheckpointConnector`, `…Task`).

Laws: a checkpoint moves back only if the group itself moved back, or the target's log is another one; it is
never ahead of the truth, since a translation never is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import NamedTuple, Protocol

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import CommittedOffset, GroupListing, TopicPartition
from heliograph.policy.group_filter import GroupFilter
from heliograph.policy.naming import ReplicationPolicy

#: Group types that brokers list; the empty one is from before KIP-848 (Kafka 3.8).
_TYPES = frozenset({"", "classic", "consumer"})
#: Groups of consumers, and groups that never had a member (offsets committed by hand, Spark, Flink).
_PROTOCOLS = frozenset({"", "consumer"})


class Translator(Protocol):
    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        """The downstream offset for a group at `upstream` of a source partition.

        None: nothing is known of the partition. Below 0: `upstream` is older than all that is known.
        """


def why_not_followed(listing: GroupListing, group_filter: GroupFilter) -> str | None:
    """Why a group of the source never gets checkpoints; None: it may."""
    kind = listing.type.lower()
    if kind not in _TYPES:
        return f"a {kind} group: its state cannot be carried over by offsets"
    if listing.protocol not in _PROTOCOLS:
        return f"not a group of consumers: its protocol is {listing.protocol!r}"
    return group_filter.why_not(listing.group)


def why_nothing_to_follow(
    offsets: Mapping[TopicPartition, CommittedOffset], target_name: Callable[[str], str | None]
) -> str | None:
    """Why a group is not followed, by its committed offsets; None: it is followed."""
    if not offsets:
        return "has no committed offsets"
    if all(target_name(topic) is None for topic in {partition.topic for partition in offsets}):
        return "has committed offsets only for topics that topics and topics.exclude keep out"
    return None


def why_none_followed(
    source: str, source_id: str | None, target: str, target_id: str | None
) -> str | None:
    """Why no group gets checkpoints between these clusters; None: groups do."""
    if source_id is None or source_id != target_id:
        return None
    return (
        f"{source} and {target} have the same cluster id {source_id}, so no checkpoints are written and no "
        "group offsets are committed: if they are one cluster, correct bootstrap.servers; if one was cloned "
        "from a snapshot of the other, set same.cluster.id.policy=accept"
    )


def checkpoint_topic(policy: ReplicationPolicy, source: str, target: str, topic: str) -> str:
    """The name of a source topic on the target; a topic that came from the target has its original name."""
    if policy.topic_source(topic) == target:
        return policy.original_topic(topic)
    return policy.format_remote_topic(source, topic)


def changed(
    offsets: Mapping[TopicPartition, CommittedOffset],
    seen: Mapping[TopicPartition, tuple[int, int]],
    versions: Mapping[TopicPartition, int],
) -> dict[TopicPartition, CommittedOffset]:
    """Offsets that have changed since they were `seen`, or whose partition's translation has a new
    version."""
    return {
        partition: committed
        for partition, committed in offsets.items()
        if seen.get(partition) != (committed.offset, versions.get(partition, 0))
    }


class PlannedCheckpoints(NamedTuple):
    """`emit` are the checkpoints to write; `held_back` would move back although the group did not;
    `untranslated` are source partitions without a checkpoint, and why."""

    emit: list[Checkpoint]
    held_back: list[Checkpoint]
    untranslated: dict[TopicPartition, str]


def plan_checkpoints(
    group: str,
    offsets: Mapping[TopicPartition, CommittedOffset],
    previous: Mapping[TopicPartition, Checkpoint],
    translator: Translator,
    target_name: Callable[[str], str | None],
    void: Container[TopicPartition] = (),
) -> PlannedCheckpoints:
    """Checkpoints of one group. `previous` has the last ones by the target's partition; those in `void`
    belong to a log that does not exist any more.

    `target_name` returns None for topics that the topic filter excludes.
    """
    emit: list[Checkpoint] = []
    held_back: list[Checkpoint] = []
    untranslated: dict[TopicPartition, str] = {}
    for partition, committed in offsets.items():
        topic = target_name(partition.topic)
        if topic is None:
            continue
        if committed.offset < 0:
            untranslated[partition] = "was reset to no offset"
            continue
        downstream = translator.translate(partition, committed.offset)
        if downstream is None:
            untranslated[partition] = "no mirrored offsets are known"
        elif downstream < 0:
            untranslated[partition] = f"offset {committed.offset} is older than what is known"
        else:
            checkpoint = Checkpoint(
                group, topic, partition.partition, committed.offset, downstream, committed.metadata
            )
            key = checkpoint.topic_partition
            before = None if key in void else previous.get(key)
            if before is None or is_more_recent(checkpoint, before):
                emit.append(checkpoint)
            elif checkpoint.downstream < before.downstream:
                held_back.append(checkpoint)
    return PlannedCheckpoints(emit, held_back, untranslated)


def from_the_start(
    void: Mapping[TopicPartition, Checkpoint], planned: Iterable[Checkpoint]
) -> list[Checkpoint]:
    """Checkpoints at offset 0 for those in `void`, of a log that does not exist any more, that no `planned`
    one replaces: the group's offset in the new log is not known, so it starts at the beginning."""
    replaced = {checkpoint.topic_partition for checkpoint in planned}
    return [
        checkpoint._replace(downstream=0)
        for partition, checkpoint in void.items()
        if partition not in replaced and checkpoint.downstream > 0
    ]


def is_more_recent(checkpoint: Checkpoint, before: Checkpoint) -> bool:
    """Whether the group moved back, or the checkpoint is further than the one before."""
    return checkpoint.upstream < before.upstream or checkpoint.downstream > before.downstream


def no_longer_true(
    held_back: Iterable[Checkpoint],
    previous: Mapping[TopicPartition, Checkpoint],
    ends: Mapping[TopicPartition, int],
) -> list[Checkpoint]:
    """Those of `held_back` whose predecessor is past the target's log end: the topic was created again or
    truncated. MM2 would keep the old checkpoint until the new log has grown past it."""
    return [
        checkpoint
        for checkpoint in held_back
        if previous[checkpoint.topic_partition].downstream
        > ends.get(checkpoint.topic_partition, -1)
        >= 0
    ]
