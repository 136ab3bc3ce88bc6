from __future__ import annotations

import pytest

from heliograph.metrics.snapshot import FlowHealth, PartitionHealth
from heliograph.model import PartitionState, Receipt
from heliograph.runtime.metering.health import flow_health, partition_health
from heliograph.runtime.progress import PartitionView

NOW = 1_000_000.0


def view(
    state: PartitionState = PartitionState.RUNNING, *, end: int = 10, copied: float = -1.0
) -> PartitionView:
    receipt = Receipt(
        *(), flow="a->b", topic="t", partition=0, position=10, records=0, bytes=0, source_end=end,
        stored=True, state=state, copied_ms=int(copied * 1000),
    )  # fmt: skip
    found = PartitionView(receipt)
    found.update(receipt, NOW)
    return found


@pytest.mark.parametrize(
    ("seen", "ages", "health"),
    [
        (view(), {0: 1.0}, PartitionHealth.QUIET),
        (view(end=11), {0: 1.0}, PartitionHealth.COPYING),
        (view(copied=NOW - 5), {0: 1.0}, PartitionHealth.COPYING),
        (view(copied=NOW - 50), {0: 1.0}, PartitionHealth.QUIET),
        (view(PartitionState.RETRYING), {0: 1.0}, PartitionHealth.RETRYING),
        (view(PartitionState.FAILED), {0: 1.0}, PartitionHealth.FAILED),
        (view(PartitionState.FAILED), {}, PartitionHealth.FAILED),
        (view(end=-1), {0: 1.0}, PartitionHealth.NO_DATA),
        (view(), {0: 10.0}, PartitionHealth.NO_DATA),
        (view(PartitionState.RETRYING), {0: 10.0}, PartitionHealth.NO_DATA),
        (view(), {1: 1.0}, PartitionHealth.NO_DATA),
        (None, {0: 1.0}, PartitionHealth.NO_DATA),
    ],
)
def test_a_partition_is_in_one_state(
    seen: PartitionView | None, ages: dict[int, float], health: PartitionHealth
) -> None:
    assert partition_health(seen, ages, NOW, failed=False) is health


def test_a_partition_that_waits_for_the_user_has_failed() -> None:
    assert partition_health(view(), {0: 1.0}, NOW, failed=True) is PartitionHealth.FAILED


QUIET, COPYING = PartitionHealth.QUIET, PartitionHealth.COPYING


@pytest.mark.parametrize(
    ("connector", "reachable", "ages", "partitions", "health"),
    [
        ("RUNNING", True, [1.0], [QUIET, QUIET], FlowHealth.QUIET),
        ("RUNNING", True, [1.0], [QUIET, COPYING], FlowHealth.COPYING),
        ("RUNNING", True, [1.0], [QUIET, PartitionHealth.RETRYING], FlowHealth.COPYING),
        ("RUNNING", True, [1.0], [], FlowHealth.QUIET),
        ("RUNNING", True, [], [], FlowHealth.NO_DATA),
        ("RUNNING", True, [12.0, 30.0], [QUIET], FlowHealth.NO_DATA),
        ("RUNNING", True, [1.0], [PartitionHealth.NO_DATA], FlowHealth.NO_DATA),
        ("RUNNING", False, [1.0], [QUIET], FlowHealth.UNREACHABLE),
        ("RUNNING", True, [1.0], [PartitionHealth.FAILED], FlowHealth.FAILED),
        ("FAILED", True, [], [], FlowHealth.FAILED),
        ("PAUSED", False, [], [], FlowHealth.PAUSED),
        ("STOPPED", True, [], [], FlowHealth.STOPPED),
        ("UNASSIGNED", True, [], [], FlowHealth.STANDBY),
        # Its group is on the target: without it, this service loses the leadership, and no other has it.
        ("UNASSIGNED", False, [], [], FlowHealth.UNREACHABLE),
    ],
)
def test_silence_is_never_health(
    connector: str,
    reachable: bool,
    ages: list[float],
    partitions: list[PartitionHealth],
    health: FlowHealth,
) -> None:
    found = flow_health(connector, reachable=reachable, report_ages=ages, partitions=partitions)

    assert found is health
