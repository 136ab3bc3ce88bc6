"""One running epoch: its leases, its newest receipts, and which tasks have ended.

    begun ──► ending ──► every task is done (channel), and all have returned (Spark) ──► over
      └──────────────────────────────────────▲

A task sends its receipts and then "done" over the control channel, and then returns to Spark. The two arrive
over different connections; an epoch is over when both are here. The next one starts from its receipts.
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
        """The task has sent its last receipts."""
        self._done.add(task)

    def end(self, now: float) -> None:
        """All tasks have returned to Spark."""
        self.returned_at = now

    @property
    def silent(self) -> list[int]:
        """Tasks that have not sent "done"."""
        return [n for n, leases in enumerate(self.tasks) if leases and n not in self._done]

    @property
    def over(self) -> bool:
        return self.returned_at is not None and not self.silent

    def receipts(self, flow: str | None = None) -> list[Receipt]:
        """The newest of each partition, of all flows or of one."""
        return [r for r in self._newest.values() if flow is None or r.flow == flow]
