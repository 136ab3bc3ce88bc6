"""Decides in which state metrics show a partition and a flow. Silence is a state of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heliograph.metrics.snapshot import FlowHealth, PartitionHealth
from heliograph.model import PartitionState
from heliograph.runtime.progress import PartitionView

#: Tasks report every second; after this long without a report nothing is known.
SILENT_SECONDS = 10.0
#: A partition counts as copying for this long after its last record.
_LATELY_SECONDS = 10.0

_BY_CONNECTOR = {
    "PAUSED": FlowHealth.PAUSED,
    "STOPPED": FlowHealth.STOPPED,
}


def partition_health(
    view: PartitionView | None, report_ages: Mapping[int, float], now: float, *, failed: bool
) -> PartitionHealth:
    """`report_ages`: by task, the seconds since its newest report; `now` in seconds since 1970."""
    if failed or (view is not None and view.receipt.state is PartitionState.FAILED):
        return PartitionHealth.FAILED
    if view is None or report_ages.get(view.task, SILENT_SECONDS) >= SILENT_SECONDS:
        return PartitionHealth.NO_DATA
    if view.receipt.state is PartitionState.RETRYING:
        return PartitionHealth.RETRYING
    if view.lag is None:
        return PartitionHealth.NO_DATA
    lately = now - view.copied_ms / 1000 < _LATELY_SECONDS
    return PartitionHealth.COPYING if view.lag or lately else PartitionHealth.QUIET


def flow_health(
    connector: str,
    *,
    reachable: bool,
    report_ages: Sequence[float],
    partitions: Sequence[PartitionHealth],
) -> FlowHealth:
    """`connector`: the state of its source connector; `partitions`: those of its partitions."""
    if connector in _BY_CONNECTOR:
        return _BY_CONNECTOR[connector]
    if not reachable:
        return FlowHealth.UNREACHABLE
    if connector == "UNASSIGNED":
        return FlowHealth.STANDBY
    if connector == "FAILED" or PartitionHealth.FAILED in partitions:
        return FlowHealth.FAILED
    known = [each for each in partitions if each is not PartitionHealth.NO_DATA]
    if not report_ages or min(report_ages) >= SILENT_SECONDS or (partitions and not known):
        return FlowHealth.NO_DATA
    quiet = all(each is PartitionHealth.QUIET for each in known)
    return FlowHealth.QUIET if quiet else FlowHealth.COPYING
