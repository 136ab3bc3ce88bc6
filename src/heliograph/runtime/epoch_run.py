"""One epoch as the driver follows it: from its leases to the last word of each task.

    begun ──► ending ──► every task has said that it is done, and Spark that they have ended ──► over
      └──────────────────────────────────────▲

A task reports its receipts, then says that it is done, then returns to Spark; the two words come by different
ways. An epoch is over when both are here: what its receipts say is where the next one starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from heliograph.model import Lease, Receipt, TopicPartition


@dataclass(slots=True, kw_only=True)
class EpochRun:
    """Owned by the driver's thread."""

    number: int
    tasks: Sequence[Sequence[Lease]]
    started: float
    ending: bool = False
    returned_at: float | None = None
    _newest: dict[tuple[str, TopicPartition], Receipt] = field(default_factory=dict)
    _done: set[int] = field(default_factory=set)

    def report(self, receipts: Iterable[Receipt]) -> None:
        for receipt in receipts:
            key = (receipt.flow, TopicPartition(receipt.topic, receipt.partition))
            self._newest[key] = receipt

    def finish(self, task: int) -> None:
        """It has nothing more to report."""
        self._done.add(task)

    def end(self, now: float) -> None:
        """Spark says that all its tasks have ended."""
        self.returned_at = now

    @property
    def silent(self) -> list[int]:
        """Tasks whose last word is missing."""
        return [n for n, leases in enumerate(self.tasks) if leases and n not in self._done]

    @property
    def over(self) -> bool:
        return self.returned_at is not None and not self.silent

    def receipts(self, flow: str | None = None) -> list[Receipt]:
        """The newest of each partition, of all flows or of one."""
        return [r for r in self._newest.values() if flow is None or r.flow == flow]
