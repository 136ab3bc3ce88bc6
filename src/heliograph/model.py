"""Values that all layers share: frozen, compared by value, cheap to pickle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from heliograph.measured import NO_BATCHES, NO_TIMES, BatchCounts, Times
from heliograph.security import PLAINTEXT, Security


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetRange(NamedTuple):
    """The record at `upstream + i` landed at `downstream + i`, for 0 <= i < `count`.

    With a count of 0, the first record mirrored from `upstream` on, if any, is at `downstream`. With a
    `downstream` of -1 the records were mirrored, but their target offsets are unknown.
    """

    upstream: int
    downstream: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used

    @property
    def end(self) -> int:
        return self.upstream + self.count

    @property
    def acked_offsets(self) -> AckedOffsets:
        """The ends of this range in both logs: the target's log was at least this long."""
        return AckedOffsets(self.end, self.downstream + self.count)


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


class LeaderEpochMark(NamedTuple):
    """The record before `offset` was appended to the source under leader epoch `epoch` (KIP-320).

    `starts` are the last few leader epochs, each with the offset of the first record read under it. A leader
    that lacks the newest epoch may have more records of an older one than were read (KIP-279).
    """

    offset: int
    epoch: int
    starts: tuple[tuple[int, int], ...] = ()

    def advance(self, offset: int, starts: Sequence[tuple[int, int]]) -> LeaderEpochMark:
        """After reading up to `offset` under the epochs of `starts` (at least one)."""
        known, newest = list(self.starts), self.starts[-1][0] if self.starts else self.epoch
        known += [each for each in starts if each[0] > newest]
        return LeaderEpochMark(offset, starts[-1][0], tuple(known[-_EPOCHS:]))

    def cut(self, offset: int) -> LeaderEpochMark:
        """The log differs from `offset` on."""
        return self._replace(
            offset=offset, starts=tuple(each for each in self.starts if each[1] < offset)
        )

    @classmethod
    def of(cls, row: Sequence[Any] | None) -> LeaderEpochMark | None:
        """From its JSON form."""
        if row is None:
            return None
        offset, epoch, *starts = row
        return cls(offset, epoch, tuple((e, start) for e, start in (starts[0] if starts else ())))


#: Leader epochs remembered per partition.
_EPOCHS = 8


class LogBounds(NamedTuple):
    """`start` and `end` (the high watermark) of a log, and the end offset of the epoch of a mark in it (None:
    not requested). `epoch` is the epoch that ends there: the mark's, or the newest before it that the leader
    has. `leader_epoch` is the leader's own, -1 if not known."""

    start: int
    end: int
    epoch_end: int | None = None
    epoch: int = -1
    leader_epoch: int = -1


class IsolationLevel(StrEnum):
    """Which records of source transactions a flow mirrors."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"

    @property
    def wire(self) -> int:
        return 1 if self is IsolationLevel.READ_COMMITTED else 0


class LastBatch(NamedTuple):
    """The newest batch of one producer in a partition; `next_offset` follows its last record."""

    identity: ProducerIdentity
    next_sequence: int
    data: bytes = b""
    next_offset: int = -1


class ProducerSnapshot(NamedTuple):
    """The position of a remote partition's writer: the next record to mirror, at or after `upstream`, goes to
    `downstream` (-1: not known) with sequence number `sequence` of producer `identity`.

    `stored` are the last few positions written to the offsets topic (-1 for none): a successor compares the
    stored offset with them to see whether another program has changed it. `isolation` is the isolation level
    under which records were numbered; None if the writer's version did not record it. `mark` is that of the
    newest record fetched, at or after `upstream`.

    `retired`: the copy continues at `upstream` under the next epoch of `identity`, whose records are all
    settled; the target's log ended at `downstream` or later. Only leases and receipts have such snapshots.
    """

    upstream: int
    downstream: int
    sequence: int
    identity: ProducerIdentity
    stored: tuple[int, ...] = ()
    isolation: IsolationLevel | None = None
    mark: LeaderEpochMark | None = None
    retired: bool = False

    def retire(self, upstream: int) -> ProducerSnapshot:
        """Continue at another position."""
        return self._replace(upstream=upstream, retired=True)


class AckedOffsets(NamedTuple):
    """All records before source offset `upstream` were acknowledged, at offsets below the target's
    `downstream`. Under exactly once also: `last` is the target offset of the newest of them, and the log was
    whole under `leader_epoch` of its leader; -1: not known."""

    upstream: int
    downstream: int
    last: int = -1
    leader_epoch: int = -1


class TopicIdPair(NamedTuple):
    """Topic ids (KIP-516) of a source topic and its remote topic, as Kafka writes them; None: not known.
    A topic that is deleted and created again has another id."""

    source: str | None = None
    target: str | None = None

    def differs(self, other: TopicIdPair) -> bool:
        """Whether either topic is known to be another one."""
        return _differs(self.source, other.source) or _differs(self.target, other.target)

    def or_else(self, other: TopicIdPair) -> TopicIdPair:
        """With the ids of `other` where none is known here."""
        return TopicIdPair(self.source or other.source, self.target or other.target)


def _differs(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


class Lineage(NamedTuple):
    """Identifies the log that a partition's position belongs to: topic ids and leader epochs. With
    `acked_offsets`, the remote partition's log must be at least that long.

    `generation` counts how often the driver has set a position other than the one its tasks reported;
    receipts of an earlier generation are ignored.
    """

    origin: TopicIdPair = TopicIdPair()
    mark: LeaderEpochMark | None = None
    generation: int = 0
    acked_offsets: AckedOffsets | None = None


class GapKind(StrEnum):
    """Ways in which source and remote partition can come to differ without an error from a broker."""

    OVERTAKEN = "OVERTAKEN"  # source records were deleted before they were mirrored
    TRUNCATED = "TRUNCATED"  # the source's log was truncated before the position
    PAST_END = "PAST_END"  # the position is past the source's end
    SOURCE_DELETED = "SOURCE_DELETED"
    SOURCE_RECREATED = "SOURCE_RECREATED"
    REMOTE_DELETED = "REMOTE_DELETED"
    REMOTE_RECREATED = "REMOTE_RECREATED"
    TARGET_LOST = "TARGET_LOST"  # the target has lost records that it had acknowledged


class Gap(NamedTuple):
    """Source offsets from `first` to before `end` whose records were not mirrored, differ from what was
    mirrored, or are no longer on the target; `kind` says which. `resumed` is the offset at which the copy
    resumes, -1 if it does not."""

    kind: GapKind
    first: int
    end: int
    resumed: int
    at_ms: int = 0

    @property
    def unmirrored(self) -> int:
        """Offsets whose records were never mirrored, and never will be."""
        return max(self.end - self.first, 0) if self.kind in _UNMIRRORED else 0


_UNMIRRORED = frozenset({GapKind.OVERTAKEN, GapKind.SOURCE_DELETED, GapKind.SOURCE_RECREATED})


class AbortedTransaction(NamedTuple):
    """An entry of a read_committed fetch response: this producer's data from `first_offset` on was
    aborted."""

    producer_id: int
    first_offset: int


class GroupListing(NamedTuple):
    """A group in a ListGroups response. `type` is empty before Kafka 3.8 (KIP-848), `state` before 2.6."""

    group: str
    type: str
    protocol: str
    state: str


class CommittedOffset(NamedTuple):
    """A group's committed offset for a partition; negative means none (some clients reset to -1)."""

    offset: int
    metadata: str = ""


#: Committed offsets: group -> partition -> offset.
GroupOffsets = dict[str, dict[TopicPartition, CommittedOffset]]


class OffsetReset(StrEnum):
    """Where a partition without a stored offset starts."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


class OnError(StrEnum):
    """What becomes of records that fail in a lane. FAIL: the partition stops before the first such record.
    QUARANTINE: they go to the quarantine topic, and the copy continues once they are there. SKIP: they are
    left out and counted."""

    FAIL = "fail"
    QUARANTINE = "quarantine"
    SKIP = "skip"


class GapPolicy(StrEnum):
    """Whether a partition continues after a gap; with `FAIL` it stops until the user decides."""

    CONTINUE = "continue"
    FAIL = "fail"


class LossPolicy(StrEnum):
    """What to do about records that the target acknowledged and then lost: copy them again, or, with `FAIL`,
    stop the partition until the user decides."""

    RECOPY = "recopy"
    FAIL = "fail"


class GapPolicies(NamedTuple):
    source: GapPolicy = GapPolicy.CONTINUE
    target: LossPolicy = LossPolicy.RECOPY

    def fails(self, kind: GapKind) -> bool:
        """Whether a gap of this kind stops its partition until a user stores another offset."""
        if kind is GapKind.TARGET_LOST:
            return self.target is LossPolicy.FAIL
        return self.source is GapPolicy.FAIL


class Timestamps(StrEnum):
    """The timestamp of a mirrored record of a LogAppendTime topic.

    `READER` is the append time, which a consumer of the source sees and MM2 writes; such batches are
    repacked. `CREATE` keeps the producer's create time, at no cost.
    """

    READER = "reader"
    CREATE = "create"


class SyncsLocation(StrEnum):
    """The cluster that holds a flow's offset-syncs topic (KIP-716)."""

    SOURCE = "source"
    TARGET = "target"


class Translation(StrEnum):
    """How committed offsets are translated: `EXACT` uses the offset map that the copy records, and MM2's
    offset syncs where the map has no entry; `SYNCS` uses MM2's syncs only."""

    EXACT = "exact"
    SYNCS = "syncs"


class ClientKind(StrEnum):
    """Kafka's kinds of client; each may have its own login: `A.consumer.sasl.jaas.config`."""

    CONSUMER = "consumer"
    PRODUCER = "producer"
    ADMIN = "admin"


class PartitionState(StrEnum):
    RUNNING = "RUNNING"
    RETRYING = "RETRYING"
    FAILED = "FAILED"
    DONE = "DONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """How to reach one cluster: alias, bootstrap servers, and client properties as the user wrote them.

    `security` applies to all clients, or, after `for_client`, to that kind of client; `by_client` lists the
    kinds that differ.
    """

    alias: str
    bootstrap_servers: tuple[str, ...]
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold secrets
    security: Security = PLAINTEXT
    by_client: tuple[tuple[ClientKind, Security], ...] = ()

    def for_client(self, kind: ClientKind) -> ClusterConfig:
        """The same cluster with the security settings of this kind of client."""
        return replace(self, security=dict(self.by_client).get(kind, self.security))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCluster:
    """Identifies a cluster regardless of its alias: its bootstrap servers and, once a client is connected,
    its id and the addresses of its brokers. The id is not enough: a clone from a snapshot has the id of its
    original."""

    bootstrap: frozenset[str]
    id: str | None = None
    brokers: frozenset[tuple[str, int]] = frozenset()

    def is_also(self, other: SeenCluster) -> bool:
        """Whether both are known to be the same cluster."""
        if self.bootstrap & other.bootstrap:
            return True
        return self.id is not None and self.id == other.id and bool(self.brokers & other.brokers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """New ranges of the offset map of a source partition, with the topics and clusters they belong to."""

    partition: TopicPartition
    origin: TopicIdPair
    ranges: tuple[OffsetRange, ...]
    source: SeenCluster
    target: SeenCluster


#: A task's leases lapse when the driver has not confirmed them for this long. At most the session timeout of
#: the driver's group membership (`client/admin/membership.py`).
SILENT_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Assigns one partition to one task for one epoch.

    `start` is the first upstream offset to copy. `end` is exclusive; None means: until the epoch ends.
    `stored` is true if the offsets topic has `start`, or does not need it; `stored_offset` is the offset in
    that topic, -1 if there is none. With a `snapshot`, `start` is its upstream offset, and records from there
    on may already be on the target. `lineage` identifies the log that `start` belongs to. `share` is this
    lease's part of the flow's byte rate (`throttle.bytes.per.second`); the shares of a flow add up to 1.
    """

    flow: str
    topic: str
    partition: int
    target_topic: str
    start: int
    end: int | None = None
    stored: bool = True
    stored_offset: int = -1
    snapshot: ProducerSnapshot | None = None
    lineage: Lineage = field(default_factory=Lineage)
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Progress of a lease: all records below upstream offset `position` are on the target.

    source_end    the source's high watermark (last stable offset under read_committed), -1 if unknown
    stored        the offsets topic has `position`, or does not need it
    copied_ms     time of the target's last acknowledgement, -1 if there was none
    foreign       records of other writers between ours on the remote partition
    fallbacks     how often the copy resumed at least once, so that records may be duplicated
    quarantined   records not mirrored: the target rejects them, or they failed in a lane
    skipped       records left out because they failed in a lane, under on.error = skip
    throttled     the flow's byte rate has slowed the copy in the last 2 s
    snapshot      only in the last receipt of an epoch
    acked_offsets only in the last receipt of an epoch, under exactly once
    ranges, gaps  new since the previous receipt
    mark          of the newest record fetched, which may be ahead of `position`
    generation    of the lease
    recheck       a topic is missing or is not the one of the lease: the driver has to check
    wanted        a topic that records are routed to, for the driver to create; the partition waits
    newest_ms     the newest record timestamp on the target, -1 if there is none
    resumes       how often it was determined how much is on the target
    batches       of the source, by what became of them
    ages          of records when they were fetched; latencies: when they were acknowledged

    Tasks send receipts every second; the next epoch starts from the last one.
    """

    flow: str
    topic: str
    partition: int
    position: int
    records: int
    bytes: int
    source_end: int
    stored: bool
    state: PartitionState
    error: str | None = None
    copied_ms: int = -1
    foreign: int = 0
    fallbacks: int = 0
    quarantined: int = 0
    throttled: bool = False
    snapshot: ProducerSnapshot | None = None
    mark: LeaderEpochMark | None = None
    generation: int = 0
    recheck: bool = False
    acked_offsets: AckedOffsets | None = None
    gaps: tuple[Gap, ...] = ()
    ranges: tuple[OffsetRange, ...] = ()
    newest_ms: int = -1
    resumes: int = 0
    batches: BatchCounts = NO_BATCHES
    ages: Times = NO_TIMES
    latencies: Times = NO_TIMES
    skipped: int = 0
    wanted: str | None = None

    def without_news(self) -> Receipt:
        """Once it was sent: without what is new since the previous receipt."""
        if not (self.ranges or self.gaps or self.ages.is_news or self.latencies.is_news):
            return self
        ages, latencies = self.ages.reported(), self.latencies.reported()
        return replace(self, ranges=(), gaps=(), ages=ages, latencies=latencies)
