"""Totals over epochs: late words and settled counters are never counted twice."""

from __future__ import annotations

from dataclasses import replace

from heliograph.model import PartitionState, Receipt, TopicPartition
from heliograph.runtime.progress import Progress


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
