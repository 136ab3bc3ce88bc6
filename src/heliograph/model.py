"""Values that every layer speaks of. Frozen, compared by value, cheap to pickle."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class AbortedTransaction(NamedTuple):
    """As a fetch under read_committed reports it: this producer's data from here on was aborted."""

    producer_id: int
    first_offset: int


class IsolationLevel(StrEnum):
    """Which records of source transactions a flow mirrors."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"

    @property
    def wire(self) -> int:
        return 1 if self is IsolationLevel.READ_COMMITTED else 0


class OffsetReset(StrEnum):
    """Where a partition without a stored offset starts."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


class Timestamps(StrEnum):
    """Which timestamp a mirrored record of a LogAppendTime topic carries.

    `READER` is what a reader of the source sees (the append time), as MM2 has it; such batches are
    repacked. `CREATE` keeps the producer's create time, which costs nothing.
    """

    READER = "reader"
    CREATE = "create"


class PartitionState(StrEnum):
    RUNNING = "RUNNING"
    RETRYING = "RETRYING"
    FAILED = "FAILED"
    DONE = "DONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """How to reach one cluster: its alias, where to bootstrap, and client properties as written."""

    alias: str
    bootstrap_servers: tuple[str, ...]
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right and duty of one task to copy one partition during one epoch.

    `start` is the first upstream offset to copy. `end` is exclusive; None means: until the epoch ends.
    """

    flow: str
    topic: str
    partition: int
    target_topic: str
    start: int
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What has become of a lease so far: everything below `position` upstream is on the target.

    `source_end` is the source's high watermark (last stable offset under read_committed), -1 if unknown.
    `stored` says whether the offsets topic knows of `position`, or need not.
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
