"""One running epoch: its leases, its newest receipts, and which tasks have ended.

    begun ──► ending ──► every task is done (channel), and all have returned (Spark) ──► over
      └──────────────────────────────────────▲

A task sends its receipts and then "done" over the control channel, and then returns to Spark. The two arrive
over different connections; an epoch is over when both are here. The next one starts from its receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.measured import TaskReport
from heliograph.model import Lease, Receipt, TopicPartition
from heliograph.plan.rate_shares import RateShares


@dataclass(slots=True, kw_only=True)
class EpochRun:
    """Owned by the driver's thread. `rates`: bytes per second of throttled flows."""

    number: int
    tasks: Sequence[Sequence[Lease]]
    started: float
    rates: Mapping[str, float] = field(default_factory=dict)
    ending: bool = False
    returned_at: float | None = None
    _newest: dict[tuple[str, TopicPartition], Receipt] = field(default_factory=dict)
    _done: set[int] = field(default_factory=set)
    _shares: dict[str, RateShares] = field(init=False)

    def __post_init__(self) -> None:
        self._shares = {
            flow: RateShares(_own_shares(flow, self.tasks), rate)
            for flow, rate in self.rates.items()
        }

    def report(self, receipts: Iterable[Receipt]) -> None:
        for receipt in receipts:
            key = (receipt.flow, TopicPartition(receipt.topic, receipt.partition))
            self._newest[key] = receipt

    def new_share(self, task: int, report: TaskReport, now: float) -> float | None:
        """Of the rate of a throttled flow, if the task's changes."""
        shares = self._shares.get(report.flow)
        if shares is None:
            return None
        return shares.report(
            task,
            now,
            throttled_seconds=report.throttled_seconds,
            received_bytes=report.source.received_bytes,
        )

    def finish(self, task: int) -> None:
        """The task has sent its last receipts."""
        self._done.add(task)
        for shares in self._shares.values():
            shares.release(task)

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


def _own_shares(flow: str, tasks: Sequence[Sequence[Lease]]) -> dict[int, float]:
    found = {
        number: sum(lease.share for lease in leases if lease.flow == flow)
        for number, leases in enumerate(tasks)
    }
    return {number: share for number, share in found.items() if share}
