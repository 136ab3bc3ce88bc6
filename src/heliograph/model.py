"""Values that every layer speaks of. Frozen, compared by value, cheap to pickle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from heliograph.security import PLAINTEXT, Security


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetRange(NamedTuple):
    """The record at `upstream + i` landed at `downstream + i`, for 0 <= i < `count`.

    With a count of 0: the first record mirrored from `upstream` on, if any, stands at `downstream`. With a
    `downstream` of -1 they were mirrored, and nobody knows where to.
    """

    upstream: int
    downstream: int
    count: int  # type: ignore[assignment]  # what tuples call so is never needed here

    @property
    def end(self) -> int:
        return self.upstream + self.count

    @property
    def landmark(self) -> Landmark:
        """How long the target's log was at least when this had landed."""
        return Landmark(self.end, self.downstream + self.count)


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


class LeaderEpochMark(NamedTuple):
    """The record before `offset` was appended to the source under leader epoch `epoch` (KIP-320).

    `starts` are leader epochs, and where the records read under each begin: the last few. A leader that lacks
    the newest of them may have more of an older one than was read (KIP-279).
    """

    offset: int
    epoch: int
    starts: tuple[tuple[int, int], ...] = ()

    def advance(self, offset: int, starts: Sequence[tuple[int, int]]) -> LeaderEpochMark:
        """After records were read up to `offset`, under the epochs of `starts`, of which there is one."""
        known, newest = list(self.starts), self.starts[-1][0] if self.starts else self.epoch
        known += [each for each in starts if each[0] > newest]
        return LeaderEpochMark(offset, starts[-1][0], tuple(known[-_EPOCHS:]))

    def cut(self, offset: int) -> LeaderEpochMark:
        """The log has taken another course from there on."""
        return self._replace(
            offset=offset, starts=tuple(each for each in self.starts if each[1] < offset)
        )

    @classmethod
    def of(cls, row: Sequence[Any] | None) -> LeaderEpochMark | None:
        """As it is behind JSON."""
        if row is None:
            return None
        offset, epoch, *starts = row
        return cls(offset, epoch, tuple((e, start) for e, start in (starts[0] if starts else ())))


#: So many leader epochs are remembered of a partition.
_EPOCHS = 8


class LogBounds(NamedTuple):
    """`start` and `end` (the high watermark) of a log, and where the epoch of a mark ends in it; None: not
    asked. `epoch` is the one that ends there: the mark's, or the newest before it that the leader has."""

    start: int
    end: int
    epoch_end: int | None = None
    epoch: int = -1


class IsolationLevel(StrEnum):
    """Which records of source transactions a flow mirrors."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"

    @property
    def wire(self) -> int:
        return 1 if self is IsolationLevel.READ_COMMITTED else 0


class LastBatch(NamedTuple):
    """The newest batch of one producer in a partition, which ends before `next_offset`."""

    identity: ProducerIdentity
    next_sequence: int
    data: bytes = b""
    next_offset: int = -1


class ProducerSnapshot(NamedTuple):
    """Where a remote partition's writer stood: the next record mirrored, at or after `upstream`, goes to
    `downstream` (-1: not known) with the number `sequence` of producer `identity`.

    `stored` are the positions last given to the offsets topic, a few, -1 for none: by them a
    successor tells whether anybody else has changed the stored offset since. `isolation` says which records
    were numbered; None: its writer was a version that did not note it. `mark` is of the newest record that
    was fetched, at or after `upstream`.
    """

    upstream: int
    downstream: int
    sequence: int
    identity: ProducerIdentity
    stored: tuple[int, ...] = ()
    isolation: IsolationLevel | None = None
    mark: LeaderEpochMark | None = None


class Landmark(NamedTuple):
    """All records before source offset `upstream` were acknowledged, below the target's `downstream`."""

    upstream: int
    downstream: int


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
    """What a partition's position stands for: an offset in a log of just these topics, with that history.
    With a `landmark`, the remote partition's log must be at least as long as it says.

    `turn` counts how often the driver has given the partition another position than its tasks did: what a
    task of an earlier turn says of it is void.
    """

    origin: TopicIdPair = TopicIdPair()
    mark: LeaderEpochMark | None = None
    turn: int = 0
    landmark: Landmark | None = None


class GapKind(StrEnum):
    """What a mirror can lose that nobody told it of."""

    OVERTAKEN = "OVERTAKEN"  # source records were deleted before they were mirrored
    TRUNCATED = "TRUNCATED"  # the source's log took another course before the position
    PAST_END = "PAST_END"  # the position is past the source's end
    SOURCE_DELETED = "SOURCE_DELETED"
    SOURCE_RECREATED = "SOURCE_RECREATED"
    REMOTE_DELETED = "REMOTE_DELETED"
    REMOTE_RECREATED = "REMOTE_RECREATED"
    TARGET_LOST = "TARGET_LOST"  # the target has lost records that it had acknowledged


class Gap(NamedTuple):
    """Source offsets from `first` to before `end` that are not mirrored, or not what was mirrored, or not
    on the target any more, as `kind` says. `resumed` is where the copy goes on, -1 if it does not."""

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
    """As a fetch under read_committed reports it: this producer's data from here on was aborted."""

    producer_id: int
    first_offset: int


class GroupListing(NamedTuple):
    """A group as brokers list it. `type` is empty before Kafka 3.8 (KIP-848), `state` before 2.6."""

    group: str
    type: str
    protocol: str
    state: str


class CommittedOffset(NamedTuple):
    """What a group has committed for a partition; below 0 is none (some clients reset to -1)."""

    offset: int
    metadata: str = ""


#: What groups have committed: group -> partition -> offset.
GroupOffsets = dict[str, dict[TopicPartition, CommittedOffset]]


class OffsetReset(StrEnum):
    """Where a partition without a stored offset starts."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


class GapPolicy(StrEnum):
    """Whether a partition is mirrored on after a gap: `FAIL` leaves that to the user."""

    CONTINUE = "continue"
    FAIL = "fail"


class LossPolicy(StrEnum):
    """What is done about records that the target had acknowledged and has lost: `FAIL` leaves that to the
    user."""

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
    """Which timestamp a mirrored record of a LogAppendTime topic carries.

    `READER` is what a reader of the source sees (the append time), as MM2 has it; such batches are
    repacked. `CREATE` keeps the producer's create time, which costs nothing.
    """

    READER = "reader"
    CREATE = "create"


class SyncsLocation(StrEnum):
    """Which cluster of a flow holds its offset-syncs topic (KIP-716)."""

    SOURCE = "source"
    TARGET = "target"


class Translation(StrEnum):
    """How committed offsets are translated: `EXACT` by the ranges that raw copying records, with
    MM2's syncs where no range is known; `SYNCS` by MM2's syncs alone."""

    EXACT = "exact"
    SYNCS = "syncs"


class ClientKind(StrEnum):
    """Kafka's kinds of client, which may log in differently: `A.consumer.sasl.jaas.config`."""

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
    """How to reach one cluster: its alias, where to bootstrap, and client properties as written.

    `security` is that of the client at hand, `by_client` that of every kind of client if they differ.
    """

    alias: str
    bootstrap_servers: tuple[str, ...]
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold secrets
    security: Security = PLAINTEXT
    by_client: tuple[tuple[ClientKind, Security], ...] = ()

    def for_client(self, kind: ClientKind) -> ClusterConfig:
        """The cluster as a client of this kind reaches it."""
        return replace(self, security=dict(self.by_client).get(kind, self.security))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCluster:
    """A cluster by what tells it from others, whatever alias it has: where its clients bootstrap, and, once
    one is connected, its id and the addresses of its brokers. A clone from a snapshot has the id of its
    original."""

    bootstrap: frozenset[str]
    id: str | None = None
    brokers: frozenset[tuple[str, int]] = frozenset()

    def is_also(self, other: SeenCluster) -> bool:
        """Whether both are known to be one cluster."""
        if self.bootstrap & other.bootstrap:
            return True
        return self.id is not None and self.id == other.id and bool(self.brokers & other.brokers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """Where records of a source partition have landed, between which topics of which clusters."""

    partition: TopicPartition
    origin: TopicIdPair
    ranges: tuple[OffsetRange, ...]
    source: SeenCluster
    target: SeenCluster


#: Leases that the driver has not confirmed for so long lapse; not longer than the session of its membership
#: (`client/admin/membership.py`).
SILENT_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right and duty of one task to copy one partition during one epoch.

    `start` is the first upstream offset to copy. `end` is exclusive; None means: until the epoch ends.
    `stored` says whether the offsets topic knows of `start`, or need not; `stored_offset` is what that topic
    says, -1 if nothing. With a `snapshot`, `start` is its upstream offset, and records from there on may be
    on the target already. `lineage` says of which log `start` is an offset. `share` is this lease's part of
    what its flow may read (`throttle.bytes.per.second`); those of all its leases add up to 1.
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
    """What has become of a lease so far: everything below `position` upstream is on the target.

    `source_end` is the source's high watermark (last stable offset under read_committed), -1 if unknown.
    `stored` says whether the offsets topic knows of `position`, or need not. `copied_ms` is when the target
    last acknowledged something, -1 if it never did. `foreign` counts records that others have appended to
    the remote partition between ours; `fallbacks` how often nobody could tell what was there already, so that
    records may stand twice; `quarantined` those that were left out, since the target does not take them.
    `throttled` says that the flow's byte rate has held the copy back lately. `snapshot` is there once the
    copy has ended. `ranges` are where records have landed since the receipt before: to be appended to what is
    known; `gaps` were found since then. `mark` is of the newest record fetched, which may be ahead of
    `position`; `turn` is the lease's. `recheck`: a topic is gone or not the one of the lease; the driver has
    to look.
    Tasks report receipts every second; the last one of an epoch is what `settle` works with.
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
    turn: int = 0
    recheck: bool = False
    gaps: tuple[Gap, ...] = ()
    ranges: tuple[OffsetRange, ...] = ()
