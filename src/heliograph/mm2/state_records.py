"""Records of Heliograph's own compacted topic on the target, `mm2-heliograph.<source>.internal`.

    key  ["stretches","orders",0,12345]   topic, partition, first upstream offset of the segment
         ["partition","orders",0]         status of a partition
         ["trail","orders",0]             producer snapshot, by which the next writer resumes
         ["gaps","orders",0]              gaps: source offsets that were never mirrored
         ["logs","connector","orders"]    ids of the topics that a connector's checkpoints belong to
         ["flow","us->eu"]                status of a flow
    ["event","us->eu","error",17]    an event of a flow's time line, in slot 17 of those of its severity
    value  JSON; of a segment {"stretches":[[upstream,downstream,count],…]}, ascending, at most 1000

The name starts with `mm2` and ends with `.internal`, so MM2 does not mirror it. The order of the topic
matters: a segment overrides older ones from its first upstream offset on (see `OffsetMap`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from heliograph.mm2.offset_map import OffsetRange
from heliograph.model import (
    Gap,
    LeaderEpochMark,
    PartitionState,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)

SEGMENT_RANGES = 1000
#: A status is one record of limited size: more problems than this are only counted.
MOST_PROBLEMS = 100
#: Events kept of a flow, by severity: frequent ones replace none of the others.
EVENT_SLOTS: Mapping[str, int] = {"error": 500, "warning": 300, "info": 200}
#: A message of a broker may be long; the log has all of it.
LONGEST_MESSAGE = 2_000
#: `FlowStatus.state` of a flow whose service runs, whose connector was paused, or that was stopped in order.
RUNNING, PAUSED, STOPPED = "RUNNING", "PAUSED", "STOPPED"

_PREFIX, _SUFFIX = "mm2-heliograph.", ".internal"


def state_topic(source_alias: str) -> str:
    return f"{_PREFIX}{source_alias}{_SUFFIX}"


def is_state_topic(topic: str) -> bool:
    return topic.startswith(_PREFIX) and topic.endswith(_SUFFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetMapSegment:
    """Some ranges of one partition; without any, a tombstone. `origin` are the ids of both topics, if
    known."""

    topic_partition: TopicPartition
    first: int
    ranges: tuple[OffsetRange, ...]
    origin: TopicIdPair = field(default_factory=TopicIdPair)

    def key(self) -> bytes:
        return segment_key(self.topic_partition, self.first)

    def value(self) -> bytes | None:
        if not self.ranges:
            return None
        named = {"origin": self.origin} if any(self.origin) else {}
        return _json({"stretches": self.ranges, **named})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsRecord:
    """The ids of the source topic and remote topic that a connector's checkpoints belong to; if the topics
    have other ids, the checkpoints are corrected. Offset syncs without topic ids before offset `syncs_from`
    of the offset-syncs topic with id `syncs_id` belong to older topics."""

    connector: str
    topic: str
    origin: TopicIdPair
    syncs_id: str | None = None
    syncs_from: int = 0

    def key(self) -> bytes:
        return _json(["logs", self.connector, self.topic])

    def value(self) -> bytes:
        return _json(
            {"origin": self.origin, "syncs_id": self.syncs_id, "syncs_from": self.syncs_from}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatus:
    """Status of a partition of a flow; -1: unknown. As `Receipt`, without what only the driver needs.
    `origin` are the ids of the topics that the stored offset belongs to."""

    topic: str
    partition: int
    flow: str
    position: int
    source_end: int
    copied_ms: int
    state: PartitionState
    error: str | None = None
    mark: LeaderEpochMark | None = None
    origin: TopicIdPair = field(default_factory=TopicIdPair)
    throttled: bool = False

    def key(self) -> bytes:
        return _json(["partition", self.topic, self.partition])

    def value(self) -> bytes:
        document = asdict(self) | mark_fields(self.mark)
        del document["topic"], document["partition"]
        return _json(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSnapshotRecord:
    """The snapshot of one source partition in its remote topic; it does not apply to another remote topic."""

    topic_partition: TopicPartition
    remote_topic: str
    snapshot: ProducerSnapshot

    def key(self) -> bytes:
        return snapshot_key(self.topic_partition)

    def value(self) -> bytes:
        snapshot = self.snapshot
        return _json(
            {
                "remote_topic": self.remote_topic,
                "upstream": snapshot.upstream,
                "downstream": snapshot.downstream,
                "sequence": snapshot.sequence,
                "producer": snapshot.identity,
                "stored": snapshot.stored,
                "isolation": snapshot.isolation,
                **mark_fields(snapshot.mark),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A partition that `source.log.gap.policy` has stopped at `position`, with the stored offset `stored`
    (-1: none). A user resumes it by storing an offset that is neither of them."""

    position: int
    stored: int

    def lifted_by(self, stored: int | None) -> bool:
        return (-1 if stored is None else stored) not in (self.stored, self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecord:
    """The gaps of a partition since its flow was first started: their number, the source offsets never
    mirrored, and the newest gap."""

    topic: str
    partition: int
    flow: str
    gaps: int
    unmirrored: int
    last: Gap
    failure: Failure | None = None

    def key(self) -> bytes:
        return _json(["gaps", self.topic, self.partition])

    def value(self) -> bytes:
        document = asdict(self)
        del document["topic"], document["partition"]
        return _json(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStatus:
    """Status of a flow at `at_ms`. Cluster ids are those of the brokers, independent of aliases. `topics`
    and `topics_exclude` are the settings of the topic filter, so they include topics whose copy has not
    begun. `since_ms` is when the service started; `refused` are topics that are not mirrored because they
    would form a cycle; `restarts` counts restarts of the copy after a failure."""

    flow: str
    source: str
    target: str
    source_id: str | None
    target_id: str | None
    policy: str
    state: str
    at_ms: int
    since_ms: int = 0
    topics: tuple[str, ...] = ()
    topics_exclude: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    restarts: int = 0

    def key(self) -> bytes:
        return _json(["flow", self.flow])

    def value(self) -> bytes:
        document = asdict(self)
        del document["flow"]
        return _json(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """An event that concerns a flow; one of the whole service concerns all of its flows. `number` counts
    those of its severity over all services, so that slots are filled in turn."""

    flow: str
    severity: str
    number: int
    at_ms: int
    kind: str
    subject: str
    message: str

    @property
    def slot(self) -> int:
        return self.number % EVENT_SLOTS[self.severity]

    def key(self) -> bytes:
        return _json(["event", self.flow, self.severity, self.slot])

    def value(self) -> bytes:
        document = asdict(self)
        del document["flow"], document["severity"]
        return _json(document)


def first_problems(problems: Mapping[str, str]) -> Mapping[str, str]:
    """The first problems, and the number of the others."""
    left_out = len(problems) - MOST_PROBLEMS
    if left_out <= 0:
        return problems
    first = dict(islice(problems.items(), MOST_PROBLEMS))
    return first | {f"{left_out:,} more": "see the log of the service for all of them"}


def mark_fields(mark: LeaderEpochMark | None) -> dict[str, Any]:
    """Epochs have their own field: older versions expect a mark of two numbers."""
    if mark is None or not mark.starts:
        return {"mark": mark and mark[:2]}
    return {"mark": mark[:2], "epochs": mark.starts}


def snapshot_key(partition: TopicPartition) -> bytes:
    return _json(["trail", *partition])


def segment_key(partition: TopicPartition, first: int) -> bytes:
    return _json(["stretches", partition.topic, partition.partition, first])


def segments_of(
    partition: TopicPartition, ranges: Sequence[OffsetRange], origin: TopicIdPair | None = None
) -> list[OffsetMapSegment]:
    """Law: read back in this order, they give these ranges."""
    return [
        OffsetMapSegment(
            topic_partition=partition,
            first=ranges[start].upstream,
            ranges=tuple(ranges[start : start + SEGMENT_RANGES]),
            origin=origin or TopicIdPair(),
        )
        for start in range(0, len(ranges), SEGMENT_RANGES)
    ]


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
