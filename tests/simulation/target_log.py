"""A model of a target partition and of what its leader knows of producers.

The rules are Kafka's (`ProducerStateManager`, `ProducerAppendInfo`): the last five batches of a producer are
recognised when they come again; a producer that is not known may begin with any number; a known one goes on
with the next, and with 0 under a higher epoch; a lower epoch is refused.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from heliograph.model import ProducerIdentity
from heliograph.records.batch import SEQUENCES, max_timestamp, read_header
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from simulation.batches import at_offset
from simulation.source_log import OFFSET_OUT_OF_RANGE, Fetched

OUT_OF_ORDER_SEQUENCE_NUMBER = 45
INVALID_PRODUCER_EPOCH = 47
_REMEMBERED = 5
#: producer.id.expiration.ms
EXPIRATION_MS = 86_400_000
FOREIGN = b"foreign"


class Entry(NamedTuple):
    """A batch in the log."""

    base: int
    data: bytes
    size: int  # records
    identity: ProducerIdentity
    sequence: int
    sent: int = 0  # the moment when its request was sent
    late: bool = False

    @property
    def last_sequence(self) -> int:
        return (self.sequence + self.size - 1) % SEQUENCES

    @property
    def end(self) -> int:
        return self.base + self.size

    def records(self) -> list[Record]:
        return list(decode(memoryview(self.data)))

    def values(self) -> list[bytes]:
        return [record.value or b"" for record in self.records()]


@dataclass
class _Producer:
    epoch: int
    at: float  # when it last wrote
    batches: deque[Entry] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class TargetLog:
    """Replication is not modelled: what is appended can be read."""

    def __init__(self) -> None:
        self.start = self.end = 0
        self.entries: list[Entry] = []
        #: Whether it has taken a number for the first one of a producer of which it had lost all batches.
        self.took_any_number = False
        self.reopened = self.unseen = frozenset[int]()  # there are no transactions
        #: When late requests were sent whose producers the leader has forgotten since.
        self.forgotten_late: set[int] = set()
        self._lost_producers: set[int] = set()
        self._producers: dict[int, _Producer] = {}

    @property
    def last_stable(self) -> int:
        return self.end

    def append(
        self, data: bytes, now: float, *, sent: int = 0, late: bool = False
    ) -> tuple[int, int]:
        """Error code and base offset. `late`: the connection that it came by is dead."""
        header = read_header(memoryview(data))
        identity = ProducerIdentity(header.producer_id, header.producer_epoch)
        entry = Entry(
            self.end,
            at_offset(data, self.end),
            header.record_count,
            identity,
            header.base_sequence,
            sent,
            late,
        )
        if identity.producer_id >= 0:
            error, base = self._check(entry)
            if error or base is not None:
                return error, -1 if base is None else base
            self._remember(entry, now)
        self.entries.append(entry)
        self.end = entry.end
        return 0, entry.base

    def append_foreign(self, count: int) -> None:
        """Somebody else writes to it."""
        self.append(bytes(encode([Record(timestamp=5, key=None, value=FOREIGN)] * count)), 0.0)

    def fetch(self, offset: int, max_bytes: int) -> Fetched:
        if not self.start <= offset <= self.end:
            return Fetched(OFFSET_OUT_OF_RANGE)
        found, size = [], 0
        for entry in self.entries:
            if entry.end > offset and size <= max_bytes:
                found.append(entry.data)
                size += len(entry.data)
        return Fetched(0, b"".join(found))

    # ── what happens to it ───────────────────────────────────────────────────────────────────

    def lose_last(self) -> list[Entry]:
        """The newest batch is gone (unclean election); a new leader knows producers by what is left."""
        if not self.entries or self.entries[-1].base < self.start:
            return []
        lost = self.entries.pop()
        self.end = lost.base
        producer = self._producers.pop(lost.identity.producer_id, None)
        left = [e for e in self.entries if e.identity.producer_id == lost.identity.producer_id]
        if not left:
            self._lost_producers.add(lost.identity.producer_id)
        if producer is not None and left:
            rebuilt = _Producer(left[-1].identity.epoch, producer.at)
            rebuilt.batches.extend(e for e in left if e.identity == left[-1].identity)
            self._producers[lost.identity.producer_id] = rebuilt
        return [lost]

    def expire_producers(self, idle_since: float) -> None:
        """producer.id.expiration.ms is over for those that have not written since."""
        self._producers = {k: p for k, p in self._producers.items() if p.at >= idle_since}

    def restart(self, now_ms: int) -> None:
        """Of each producer its newest batch is known afterwards, and nothing of one whose newest batch has
        records that are older than producer.id.expiration.ms, whenever it was written."""
        kept = dict[int, _Producer]()
        for key, producer in self._producers.items():
            newest = producer.batches[-1]
            if now_ms - max_timestamp(memoryview(newest.data)) < EXPIRATION_MS:
                kept[key] = replace(producer, batches=deque([newest], maxlen=_REMEMBERED))
            else:
                self.forgotten_late.update(each.sent for each in producer.batches if each.late)
        self._producers = kept

    def delete_before(self, offset: int) -> None:
        self.start = max(self.start, min(offset, self.end))

    # ── producers ────────────────────────────────────────────────────────────────────────────

    def _check(self, entry: Entry) -> tuple[int, int | None]:
        """An error; or where the batch stands already; or neither."""
        known = self._producers.get(entry.identity.producer_id)
        if known is None:
            lost = entry.identity.producer_id in self._lost_producers
            self.took_any_number |= lost and entry.sequence > 0
            return 0, None
        if entry.identity.epoch < known.epoch:
            return INVALID_PRODUCER_EPOCH, None
        if entry.identity.epoch > known.epoch:
            return (OUT_OF_ORDER_SEQUENCE_NUMBER if entry.sequence else 0), None
        for before in known.batches:
            if (before.sequence, before.last_sequence) == (entry.sequence, entry.last_sequence):
                return 0, before.base
        expected = (known.batches[-1].last_sequence + 1) % SEQUENCES
        return (0 if entry.sequence == expected else OUT_OF_ORDER_SEQUENCE_NUMBER), None

    def _remember(self, entry: Entry, now: float) -> None:
        known = self._producers.get(entry.identity.producer_id)
        if known is None or known.epoch < entry.identity.epoch:
            known = self._producers[entry.identity.producer_id] = _Producer(
                entry.identity.epoch, now
            )
        known.at = now
        known.batches.append(entry)
