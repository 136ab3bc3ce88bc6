"""Totals over epochs: late words and settled counters are never counted twice."""

from __future__ import annotations

from dataclasses import replace

from heliograph.measured import BatchCounts
from heliograph.model import Lease, PartitionState, Receipt, TopicPartition
from heliograph.runtime.progress import Progress
from support.snapshots import times


def receipt(
    topic: str = "orders",
    partition: int = 0,
    *,
    position: int = 10,
    records: int = 5,
    end: int = 10,
    state: PartitionState = PartitionState.RUNNING,
) -> Receipt:
    return Receipt(
        flow="a->b",
        topic=topic,
        partition=partition,
        position=position,
        records=records,
        bytes=records * 10,
        source_end=end,
        stored=True,
        state=state,
        error="broken" if state is PartitionState.FAILED else None,
    )


def test_words_of_a_running_epoch_replace_each_other() -> None:
    progress = Progress()
    progress.begin(1)

    progress.update(1, [receipt(records=5)])
    progress.update(1, [receipt(records=8)])

    assert progress.records == 8


def test_a_settled_epoch_is_counted_once_and_the_next_on_top() -> None:
    progress = Progress()
    progress.begin(1)
    progress.update(1, [receipt(records=5)])
    progress.settle([receipt(records=8)])
    progress.begin(2)
    progress.update(2, [receipt(records=3)])

    assert progress.records == 11
    assert progress.topics()[0].bytes == 110


def test_a_late_word_of_an_epoch_that_is_settled_is_not_counted() -> None:
    progress = Progress()
    progress.begin(1)
    progress.settle([receipt(records=8)])

    progress.update(1, [receipt(records=7)])
    progress.begin(2)
    progress.update(1, [receipt(records=7)])

    assert progress.records == 8


def test_lag_is_the_distance_to_the_sources_end_summed_over_partitions() -> None:
    progress = Progress()
    progress.begin(1)
    progress.update(1, [receipt(position=4, end=10), receipt(partition=1, position=9, end=10)])

    assert progress.topics()[0].lag == 7


def test_lag_is_unknown_while_one_partition_has_not_been_looked_at() -> None:
    progress = Progress()
    progress.begin(1)
    progress.update(1, [receipt(position=4, end=10), receipt(partition=1, end=-1)])

    assert progress.topics()[0].lag is None


def test_partitions_in_trouble_are_shown_with_their_topic() -> None:
    progress = Progress()
    progress.begin(1)
    failed = receipt(partition=1, state=PartitionState.FAILED)
    progress.update(1, [receipt(), failed, receipt("other", state=PartitionState.DONE)])

    orders, other = progress.topics()

    assert (orders.topic, orders.partitions, orders.troubled) == ("orders", 2, (failed,))
    assert (other.topic, other.troubled) == ("other", ())


def test_settled_receipts_keep_their_state_and_error() -> None:
    progress = Progress()
    progress.begin(1)
    progress.settle([receipt(state=PartitionState.FAILED)])

    (kept,) = progress.receipts()

    assert (kept.state, kept.error, kept.position) == (PartitionState.FAILED, "broken", 10)


def test_records_left_out_are_counted_over_all_epochs() -> None:
    progress = Progress()
    progress.begin(1)
    progress.settle([replace(receipt(), quarantined=2), receipt(partition=1)])
    progress.begin(2)
    progress.update(2, [replace(receipt(), quarantined=1)])

    assert progress.quarantined("a->b") == {TopicPartition("orders", 0): 3}
    assert progress.quarantined("b->a") == {}


def test_a_restart_counts_what_was_said_before_and_shows_why_nothing_moves() -> None:
    progress = Progress()
    progress.begin(1)
    progress.update(1, [receipt(records=5)])

    progress.restart("the worker is gone")
    (troubled,) = progress.receipts()
    progress.update(1, [receipt(records=7)])  # too late
    progress.begin(2)
    progress.update(2, [receipt(records=2)])

    assert (troubled.state, troubled.error) == (PartitionState.RETRYING, "the worker is gone")
    assert progress.records == 7
    assert progress.restarts == 1
    assert progress.receipts()[0].state is PartitionState.RUNNING


def test_lag_in_seconds_is_the_age_of_the_newest_record_copied() -> None:
    progress = Progress(clock=lambda: 1000.0)
    progress.begin(1)
    progress.update(1, [replace(receipt(position=5), newest_ms=400_000)])
    ((_, _, view),) = progress.views()

    assert view.lag_seconds(1000.0) == 600.0


def test_a_partition_that_was_at_the_end_is_late_since_it_left_it() -> None:
    """The newest record may be of yesterday: a topic without traffic is not late when a record comes."""
    now = [1000.0]
    progress = Progress(clock=lambda: now[0])
    progress.begin(1)
    progress.update(1, [replace(receipt(), newest_ms=400_000)])
    ((_, _, view),) = progress.views()
    assert view.lag_seconds(1000.0) == 0.0

    now[0] = 1010.0
    progress.update(1, [replace(receipt(end=12), newest_ms=400_000)])
    assert view.lag_seconds(1013.0) == 3.0
    progress.update(1, [replace(receipt(position=11, end=12), newest_ms=1_012_000)])
    assert view.lag_seconds(1013.0) == 1.0


def test_how_late_it_is_before_anything_is_copied_is_not_known() -> None:
    progress = Progress()
    progress.begin(1)
    progress.update(1, [receipt(position=5), receipt(partition=1, end=-1)])

    assert [view.lag_seconds(9e9) for _, _, view in progress.views()] == [None, None]


def test_counters_of_batches_and_times_go_on_over_epochs() -> None:
    progress = Progress()
    counted = replace(receipt(), batches=BatchCounts(passed=2), latencies=times(0.5), resumes=1)
    progress.begin(1)
    progress.update(1, [counted])
    progress.settle([counted])
    progress.begin(2)
    progress.update(2, [counted])
    ((_, _, view),) = progress.views()

    assert (view.batches.passed, view.latencies.count, view.resumes) == (4, 2, 2)


def test_a_pause_is_from_the_end_of_an_epoch_to_the_next_receipts() -> None:
    now = [1000.0]
    progress = Progress(clock=lambda: now[0])
    progress.begin(1)
    progress.update(1, [receipt()])
    progress.pausing()
    now[0] = 1002.0
    progress.pausing()
    progress.settle([receipt()])
    progress.begin(2)
    now[0] = 1003.5
    progress.update(2, [receipt()])
    progress.update(2, [receipt()])

    assert (progress.epochs, progress.pause_seconds) == (2, 3.5)


def test_a_partition_has_the_task_that_its_lease_is_with() -> None:
    progress = Progress()
    lease = Lease(flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=0)
    progress.begin(1, [[], [], [lease]])
    progress.update(1, [receipt()])
    ((_, _, view),) = progress.views()

    assert view.task == 2


def test_a_new_epoch_forgets_neither_the_last_copy_nor_how_late_it_is() -> None:
    progress = Progress(clock=lambda: 1000.0)
    copied = replace(receipt(position=5), newest_ms=400_000, copied_ms=900_000)
    progress.begin(1)
    progress.update(1, [copied])
    progress.settle([copied])
    progress.begin(2)
    progress.update(2, [receipt(position=5)])
    ((_, _, view),) = progress.views()

    assert (view.copied_ms, view.lag_seconds(1000.0)) == (900_000, 600.0)
