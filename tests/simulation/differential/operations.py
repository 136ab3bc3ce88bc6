"""What a sequence may do. Producers are named by a slot, leader epochs by their rank."""

from __future__ import annotations

from dataclasses import dataclass

#: Slots: two idempotent producers, two with a transactional id, and one whose id no broker has given.
IDEMPOTENT, TRANSACTIONAL, STRANGER = (0, 1), (2, 3), 4
SLOTS = 5
PARTITIONS = 2
#: A transaction that must not time out, and one that shall.
LONG_TIMEOUT_MS, SHORT_TIMEOUT_MS = 900_000, 1_500
#: Ages of records: of now, and older than producer.id.expiration.ms (1 day).
NOW, OLD = 0, 3 * 86_400_000
NO_CHECK = -1  # of a leader epoch
MAX_MESSAGE_BYTES = 400


@dataclass(frozen=True)
class Init:
    """InitProducerId. `follow`: with the slot's own identity, its epoch changed by so much (KIP-360)."""

    slot: int
    follow: int | None = None
    timeout_ms: int = LONG_TIMEOUT_MS


@dataclass(frozen=True)
class Bump:
    """The producer raises its epoch by itself, as idempotent ones may. No request."""

    slot: int


@dataclass(frozen=True)
class Batch:
    """`defect`: "crc", "base", "control", "count" or "size"."""

    partition: int
    sequence: int
    count: int
    age_ms: int = NOW
    defect: str = ""


@dataclass(frozen=True)
class Produce:
    """One batch for each of some partitions. `slot` None: without a producer id. `id_of`: whose
    transactional id the request names."""

    batches: tuple[Batch, ...]
    slot: int | None
    epoch_change: int = 0
    transactional: bool = False
    id_of: int | None = None
    version: int = 8


@dataclass(frozen=True)
class AddPartitions:
    """AddPartitionsToTxn; `missing`: also one that does not exist."""

    slot: int
    partitions: tuple[int, ...]
    epoch_change: int = 0
    missing: bool = False


@dataclass(frozen=True)
class End:
    """EndTxn; version 5 is that of transactions of version 2."""

    slot: int
    commit: bool
    version: int
    epoch_change: int = 0


@dataclass(frozen=True)
class TimeOut:
    """Wait until the coordinator has aborted the slot's transaction."""

    slot: int


@dataclass(frozen=True)
class DeleteRecords:
    partition: int
    offset: int


@dataclass(frozen=True)
class EpochEnd:
    """OffsetForLeaderEpoch."""

    partition: int
    epoch: int
    current: int = NO_CHECK


@dataclass(frozen=True)
class ListOffsets:
    """`timestamp`: -1 latest, -2 earliest, else an age."""

    partition: int
    timestamp: int
    committed: bool
    current: int = NO_CHECK


@dataclass(frozen=True)
class Fetch:
    partition: int
    offset: int
    committed: bool
    max_bytes: int
    current: int = NO_CHECK


@dataclass(frozen=True)
class Observe:
    """All that can be seen of a partition, from the log start on."""

    partition: int
    start: int


@dataclass(frozen=True)
class Restart:
    """The broker stops, or is killed, and starts again."""

    clean: bool


Operation = (
    Init
    | Bump
    | Produce
    | AddPartitions
    | End
    | TimeOut
    | DeleteRecords
    | EpochEnd
    | ListOffsets
    | Fetch
    | Observe
    | Restart
)
