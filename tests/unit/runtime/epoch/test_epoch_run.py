"""When an epoch is over, and what it leaves behind."""

from __future__ import annotations

from dataclasses import replace

from heliograph.model import Lease, PartitionState, Receipt
from heliograph.runtime.epoch.epoch_run import EpochRun
from support.snapshots import REPORT


def lease(partition: int) -> Lease:
    return Lease(flow="a->b", topic="orders", partition=partition, target_topic="a.orders", start=0)


def receipt(partition: int, position: int, flow: str = "a->b") -> Receipt:
    return Receipt(
        flow=flow,
        topic="orders",
        partition=partition,
        position=position,
        records=0,
        bytes=0,
        source_end=-1,
        stored=True,
        state=PartitionState.RUNNING,
    )


def new_run() -> EpochRun:
    """Two tasks with a partition each; the third slot has none."""
    return EpochRun(number=7, tasks=[[lease(0)], [lease(1)], []], started=0.0)


def test_an_epoch_is_over_when_spark_and_every_task_have_said_so() -> None:
    run = new_run()
    run.finish(0)
    run.finish(1)
    assert not run.over
    run.end(now=5.0)
    assert run.over

    run = new_run()
    run.end(now=5.0)
    assert not run.over
    run.finish(1)
    assert run.silent == [0]
    run.finish(0)
    assert run.over


def test_the_newest_receipt_of_each_partition_counts() -> None:
    run = new_run()
    run.report([receipt(0, 5), receipt(1, 3), receipt(0, 2, "b->a")])
    run.report([receipt(0, 9)])

    assert {(r.flow, r.partition): r.position for r in run.receipts()} == {
        ("a->b", 0): 9,
        ("a->b", 1): 3,
        ("b->a", 0): 2,
    }
    assert [r.position for r in run.receipts("b->a")] == [2]


def test_a_receipt_of_another_flow_is_another_partitions() -> None:
    run = new_run()
    run.report([receipt(0, 5), replace(receipt(0, 6), topic="refunds")])

    assert len(run.receipts()) == 2


def test_an_idle_task_lends_its_share_of_a_throttled_flow() -> None:
    tasks = [[replace(lease(number), share=0.5)] for number in range(2)]
    run = EpochRun(number=7, tasks=tasks, started=0.0, rates={"a->b": 1e6})

    def report(task: int, second: int) -> float | None:
        source = replace(REPORT.source, received_bytes=second * 100)
        throttled = second * 0.9 if task == 0 else 0.0
        its = replace(REPORT, flow="a->b", throttled_seconds=throttled, source=source)
        return run.new_share(task, its, float(second))

    told = [report(task, second) for second in range(4) for task in range(2)]

    assert [share for share in told if share is not None] == [0.05, 0.95]
    assert run.new_share(0, replace(REPORT, flow="c->d"), 9.0) is None  # it is not throttled


def test_an_unthrottled_flow_has_no_shares() -> None:
    assert new_run().new_share(0, replace(REPORT, flow="a->b"), 1.0) is None
