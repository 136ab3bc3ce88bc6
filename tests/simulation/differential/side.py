"""One side of the comparison, the model or a real broker: the identities it has given, under common names."""

from __future__ import annotations

from dataclasses import dataclass, field

from heliograph.model import ProducerIdentity, TopicPartition
from simulation.differential.operations import SLOTS, STRANGER, TRANSACTIONAL

_UNKNOWN = ProducerIdentity(-1, -1)


@dataclass
class Side:
    """Of one sequence. `epochs` are the leader epochs of each partition so far; `now_ms` is the time that
    records of age 0 have."""

    name: str  # of the sequence
    partitions: tuple[TopicPartition, ...]
    now_ms: int
    stranger: int  # a producer id
    epochs: list[list[int]]
    identities: list[ProducerIdentity] = field(default_factory=lambda: [_UNKNOWN] * SLOTS)
    _labels: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.identities[STRANGER] = ProducerIdentity(self.stranger, 0)
        self.label(self.stranger)

    def transactional_id(self, slot: int | None) -> str | None:
        return f"{self.name}-{slot}" if slot in TRANSACTIONAL else None

    def identity(self, slot: int | None, epoch_change: int = 0) -> ProducerIdentity:
        if slot is None:
            return _UNKNOWN
        producer_id, epoch = self.identities[slot]
        return ProducerIdentity(producer_id, epoch + epoch_change)

    def label(self, producer_id: int) -> str:
        """The same on both sides, as long as they see producers in the same order."""
        if producer_id < 0:
            return "none"
        return self._labels.setdefault(producer_id, f"producer {len(self._labels)}")

    def epoch(self, partition: int, rank: int) -> int:
        """Also of ranks that are not there (yet)."""
        known = self.epochs[partition]
        if rank < 0:
            return -1
        return known[rank] if rank < len(known) else known[-1] + 1 + rank - len(known)

    def rank(self, partition: int, epoch: int) -> int:
        known = self.epochs[partition]
        if epoch < 0:
            return -1
        return known.index(epoch) if epoch in known else 1000 + epoch
