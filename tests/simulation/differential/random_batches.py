"""Produce requests of a sequence: most continue what the model knows, others repeat, skip or break it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

from heliograph.records.batch import SEQUENCES
from simulation.differential import operations as op
from simulation.differential.modelled import ModelSide
from simulation.model.producer_entry import UNKNOWN

_DEFECTS = ("crc", "base", "control", "count", "size")
#: How far back a batch may be that is sent again: one more than brokers remember.
_AGAIN = 6


class RandomBatches:
    def __init__(self, rng: Random, model: ModelSide, *, old_records: bool) -> None:
        self._rng = rng
        self._model = model
        self._old_records = old_records
        self._sent: defaultdict[tuple[int, int], list[op.Batch]] = defaultdict(list)

    def next(self) -> op.Produce:
        slot = self._rng.choices((None, *range(op.SLOTS)), (1, 4, 4, 7, 7, 2))[0]
        both = self._rng.random() < 0.2
        partitions = range(op.PARTITIONS) if both else [self._partition()]
        transactional = slot in op.TRANSACTIONAL and self._rng.random() < 0.92
        id_of = slot
        if transactional and self._rng.random() < 0.06:
            id_of = self._rng.choice((None, *op.TRANSACTIONAL))
        return op.Produce(
            tuple(self._batch(slot, partition) for partition in partitions),
            slot,
            self._rng.choices((0, -1, 1), (14, 1, 1))[0] if slot is not None else 0,
            transactional,
            id_of,
            self._rng.choice((8, 11, 12, 12, 12)),
        )

    def row(self) -> Iterator[op.Produce]:
        """More batches in order than a broker remembers, then one of them again. The first sequence number
        may be one of the last, so that they wrap around."""
        slot, partition = self._rng.choice((*op.IDEMPOTENT, op.STRANGER)), self._partition()
        batches = []
        for _ in range(self._rng.randint(4, 7)):
            batch = op.Batch(partition, self._following(slot, partition), self._rng.randint(1, 2))
            batches.append(batch)
            self._sent[slot, partition].append(batch)
            yield op.Produce((batch,), slot)
        yield op.Produce((self._rng.choice(batches),), slot)

    def again(self) -> Iterator[op.Produce]:
        """One of the last batches of each idempotent producer."""
        for (slot, _), batches in self._sent.items():
            if slot in op.IDEMPOTENT:
                yield op.Produce((self._rng.choice(batches[-_AGAIN:]),), slot)

    def opening(self, slot: int) -> op.Produce:
        """The first batch of a transaction of version 2."""
        batch = op.Batch(0, 0, 2)
        return op.Produce((batch,), slot, 0, True, slot, 12)

    def _batch(self, slot: int | None, partition: int) -> op.Batch:
        if slot is None:
            return op.Batch(partition, -1, self._rng.randint(1, 4), self._age(), self._defect())
        sent = self._sent[slot, partition]
        if sent and self._rng.random() < 0.15:
            return self._rng.choice(sent[-_AGAIN:])
        batch = op.Batch(
            partition,
            self._sequence(slot, partition),
            self._rng.choice((1, 1, 2, 3)),
            self._age(),
            self._defect(),
        )
        sent.append(batch)
        return batch

    def _sequence(self, slot: int, partition: int) -> int:
        following, chance = self._following(slot, partition), self._rng.random()
        if chance < 0.85:
            return following
        if chance < 0.95:
            return (following + self._rng.randint(1, 3)) % SEQUENCES
        return 0

    def _following(self, slot: int, partition: int) -> int:
        identity = self._model.side.identities[slot]
        entry = self._model.logs[partition].producers.entry(identity.producer_id)
        if entry == UNKNOWN:
            return self._rng.choice((0, 0, 0, SEQUENCES - 3))
        return (entry.last_sequence + 1) % SEQUENCES if entry.epoch == identity.epoch else 0

    def _partition(self) -> int:
        return self._rng.randrange(op.PARTITIONS)

    def _age(self) -> int:
        return op.OLD if self._rng.random() < 0.1 and self._old_records else op.NOW

    def _defect(self) -> str:
        return self._rng.choice(_DEFECTS) if self._rng.random() < 0.03 else ""
