"""A sequence from a seed. Most operations continue what the model knows, so that they are accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import NamedTuple

from simulation.differential import operations as op
from simulation.differential.asking import Outcome
from simulation.differential.modelled import ModelSide
from simulation.differential.random_batches import RandomBatches

_LENGTHS = (8, 22)
#: How often an operation is followed by a look at a partition.
_OBSERVED = 0.2
_STRANGERS = 1_000_000_000


class Step(NamedTuple):
    """An operation, and its outcome on the model."""

    operation: op.Operation
    outcome: Outcome


class Sequence(NamedTuple):
    seed: int
    stranger: int  # a producer id
    steps: list[Step]


def generate(
    seed: int, now_ms: int, restart: op.Restart | None = None, *, timed: bool = True
) -> Sequence:
    """With a restart in the middle, if wanted. `timed`: with transactions that time out, and with producers
    whose records are so old that they expire. A broker looks for both by its own clock, for producers every
    10 minutes: without restarts in between, sequences with old records could meet that."""
    return _Generator(seed, now_ms, timed).run(restart)


def replay(sequence: Sequence, now_ms: int) -> int | None:
    """On the model as it is now. The first step with another outcome, if there is one."""
    model = ModelSide(name_of(sequence.seed), now_ms, sequence.stranger)
    for number, (operation, outcome) in enumerate(sequence.steps):
        if model.carry_out(operation) != outcome:
            return number
    return None


def name_of(seed: int) -> str:
    return f"sequence-{seed}"


class _Generator:
    def __init__(self, seed: int, now_ms: int, timed: bool) -> None:
        self._rng = Random(seed)
        self._seed = seed
        self._model = ModelSide(name_of(seed), now_ms, _STRANGERS + seed)
        self._batches = RandomBatches(self._rng, self._model, old_records=timed)
        self._steps: list[Step] = []
        self._choices: list[tuple[int, Callable[[], Iterable[op.Operation]]]] = [
            (50, self._produce),
            (5, self._batches.row),
            (8, self._add_partitions),
            (14, self._end),
            (6, self._init),
            (3, self._bump),
            (4, self._delete_records),
            (4, self._epoch_end),
            (4, self._list_offsets),
            (6, self._fetch),
            (1 if timed else 0, self._time_out),
        ]

    def run(self, restart: op.Restart | None) -> Sequence:
        for slot in (*op.IDEMPOTENT, *op.TRANSACTIONAL):
            self._do(op.Init(slot))
        for _ in range(self._rng.randint(*_LENGTHS)):
            self._one()
        if restart is not None:
            self._look_everywhere()
            self._do(restart)
            self._look_everywhere()
            for operation in self._batches.again():
                self._do(operation)
            for _ in range(self._rng.randint(*_LENGTHS)):
                self._one()
        self._look_everywhere()
        return Sequence(self._seed, _STRANGERS + self._seed, self._steps)

    def _one(self) -> None:
        weights, choices = zip(*self._choices, strict=True)
        (choice,) = self._rng.choices(choices, weights)
        for operation in choice():
            self._do(operation)
        if self._rng.random() < _OBSERVED:
            self._look(self._partition())

    def _do(self, operation: op.Operation) -> None:
        self._steps.append(Step(operation, self._model.carry_out(operation)))

    def _look(self, partition: int) -> None:
        self._do(op.Observe(partition, self._model.logs[partition].start))

    def _look_everywhere(self) -> None:
        for partition in range(op.PARTITIONS):
            self._look(partition)

    # ── producers ────────────────────────────────────────────────────────────────────────────

    def _produce(self) -> Iterator[op.Operation]:
        yield self._batches.next()

    def _init(self) -> Iterator[op.Operation]:
        slot = self._rng.choice((*op.TRANSACTIONAL, *op.TRANSACTIONAL, *op.IDEMPOTENT))
        yield op.Init(slot, self._rng.choice((None, None, 0, 0, -1, 1)))

    def _bump(self) -> Iterator[op.Operation]:
        yield op.Bump(self._rng.choice((*op.IDEMPOTENT, op.STRANGER)))

    def _add_partitions(self) -> Iterator[op.Operation]:
        partitions = self._rng.choice(((0,), (1,), (0, 1)))
        missing = self._rng.random() < 0.1
        yield op.AddPartitions(self._transactional(), partitions, self._epoch_change(), missing)

    def _end(self) -> Iterator[op.Operation]:
        commit, version = self._rng.random() < 0.6, self._rng.choice((4, 5, 5))
        yield op.End(self._transactional(), commit, version, self._epoch_change())

    def _time_out(self) -> Iterator[op.Operation]:
        """A short transaction, requests of its producer after the timeout, and a long timeout again."""
        slot = self._transactional()
        identities = self._model.side.identities
        before = identities[slot]
        yield op.Init(slot, timeout_ms=op.SHORT_TIMEOUT_MS)
        if identities[slot] != before:
            yield self._batches.opening(slot)
            yield op.TimeOut(slot)
            yield self._batches.opening(slot)
            yield op.End(slot, commit=True, version=5)
            yield op.Init(slot, follow=0)
        yield op.Init(slot)

    # ── partitions ───────────────────────────────────────────────────────────────────────────

    def _delete_records(self) -> Iterator[op.Operation]:
        partition = self._partition()
        log = self._model.logs[partition]
        offset = self._rng.choice((-1, log.end + 1, self._rng.randint(0, log.end)))
        yield op.DeleteRecords(partition, offset)

    def _epoch_end(self) -> Iterator[op.Operation]:
        yield op.EpochEnd(self._partition(), self._epoch(), self._epoch(op.NO_CHECK))

    def _list_offsets(self) -> Iterator[op.Operation]:
        timestamp = self._rng.choice((-1, -2, op.NOW, op.OLD))
        committed = self._rng.random() < 0.5
        yield op.ListOffsets(self._partition(), timestamp, committed, self._epoch(op.NO_CHECK))

    def _fetch(self) -> Iterator[op.Operation]:
        partition = self._partition()
        log = self._model.logs[partition]
        offset = self._rng.randint(max(log.start - 1, 0), log.end + 1)
        yield op.Fetch(
            partition,
            offset,
            self._rng.random() < 0.5,
            self._rng.choice((1, 200, 1 << 20)),
            self._epoch(op.NO_CHECK),
        )

    def _partition(self) -> int:
        return self._rng.randrange(op.PARTITIONS)

    def _transactional(self) -> int:
        return self._rng.choice(op.TRANSACTIONAL)

    def _epoch_change(self) -> int:
        return self._rng.choices((0, -1, 1), (12, 1, 1))[0]

    def _epoch(self, *others: int) -> int:
        return self._rng.choice((0, 1, 2, *others, *others))
