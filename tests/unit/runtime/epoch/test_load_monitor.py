"""When another balance of the load is worth the pause that a new epoch costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from heliograph.model import TopicPartition
from heliograph.plan.epoch import FlowView, plan_epoch
from heliograph.runtime.epoch import load_monitor as module
from heliograph.runtime.epoch.load_monitor import LoadMonitor
from support.configurations.mm2_files import BASE, Reader

MINUTE = 60.0
HEAVY = 20_000_000 * int(MINUTE)


class Flow:
    """Four partitions, over two tasks; `copied` is what each has copied in all, in bytes."""

    def __init__(self, folder: Path) -> None:
        self.config = Reader(folder)(BASE + "tasks.max = 2\n").flow("us->eu")
        self.loads: Mapping[TopicPartition, float] = {}
        self.copied = {TopicPartition("orders", number): 0 for number in range(4)}
        self.tasks = plan_epoch([self.view()], 2)

    def view(self) -> FlowView:
        return FlowView(flow=self.config, positions=dict.fromkeys(self.copied, 0), loads=self.loads)

    def set_loads(self, loads: Mapping[TopicPartition, float]) -> None:
        self.loads = loads

    def bytes_by_partition(self, flow: str) -> dict[TopicPartition, int]:
        return dict(self.copied)

    def copy(self, *task_bytes: int) -> None:
        """So many by every partition of each task."""
        for task, size in zip(self.tasks, task_bytes, strict=True):
            for lease in task:
                self.copied[TopicPartition(lease.topic, lease.partition)] += size


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def flow(tmp_path: Path) -> Any:
    return Flow(tmp_path)


def test_a_task_that_has_all_the_load_is_worth_another_epoch(flow: Any, clock: Clock) -> None:
    monitor = LoadMonitor(flow)
    flow.copy(HEAVY, 0)
    clock.now = MINUTE + 1

    assert (
        monitor.look([flow], flow.tasks) == "rebalancing takes 50% of the load off the busiest task"
    )


def test_a_balance_that_is_good_enough_is_left_alone(flow: Any, clock: Clock) -> None:
    monitor = LoadMonitor(flow)
    flow.copy(HEAVY, HEAVY)
    clock.now = MINUTE + 1

    assert monitor.look([flow], flow.tasks) is None


def test_no_pause_is_worth_a_small_load(flow: Any, clock: Clock) -> None:
    monitor = LoadMonitor(flow)
    flow.copy(1000, 0)
    clock.now = MINUTE + 1

    assert monitor.look([flow], flow.tasks) is None


def test_what_counts_is_the_last_minute_and_only_once_a_minute(flow: Any, clock: Clock) -> None:
    monitor = LoadMonitor(flow)
    flow.copy(HEAVY, HEAVY)
    clock.now = MINUTE + 1
    monitor.look([flow], flow.tasks)
    flow.copy(HEAVY, 0)

    assert monitor.look([flow], flow.tasks) is None
    clock.now += MINUTE + 1
    assert monitor.look([flow], flow.tasks) is not None
    assert sorted(flow.loads.values()) == [0, 0, HEAVY, HEAVY]
