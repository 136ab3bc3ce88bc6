"""How a run of the mirror ended: records copied, and the partitions that are not done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heliograph.model import PartitionState, Receipt
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    records: int
    unfinished: tuple[Receipt, ...]
    unstored: tuple[Receipt, ...]
    problems: tuple[str, ...]
    quarantined: int = 0

    @property
    def good(self) -> bool:
        return not self.unfinished and not self.problems


def outcome_of(progress: Progress, flows: Iterable[ObservedFlow], *, once: bool) -> Outcome:
    """With `once`, every partition should be DONE; else none should be FAILED."""
    wanted = {PartitionState.DONE} if once else set(PartitionState) - {PartitionState.FAILED}
    receipts, ended = progress.receipts(), list(flows)
    return Outcome(
        records=progress.records,
        unfinished=tuple(r for r in receipts if r.state not in wanted),
        unstored=tuple(r for r in receipts if not r.stored),
        problems=tuple(
            f"flow {flow.config.name}: {problem}"
            for flow in ended
            for problem in flow.problems.values()
        ),
        quarantined=sum(sum(progress.quarantined(flow.config.name).values()) for flow in ended),
    )
