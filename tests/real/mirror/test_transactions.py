"""Transactional sources: what a consumer of the flow's isolation level sees is what is mirrored."""

from __future__ import annotations

import pytest

from support.clusters.reading import read_all
from support.clusters.writing import Writer, interleave, numbered
from support.flows.mirroring import Flow
from support.waiting import eventually


def write_interleaved(flow: Flow, topic: str) -> None:
    """Two transactions side by side, of which one is aborted, several times over; then a plain batch."""
    first = Writer(flow.source, topic, transactional=f"{flow.alias}-1", codec="lz4")
    second = Writer(flow.source, topic, transactional=f"{flow.alias}-2")
    interleave(first, second)
    Writer(flow.source, topic).batch(numbered(range(1000, 1010)))


@pytest.mark.parametrize(
    ("isolation", "records"), [("read_committed", 90), ("read_uncommitted", 170)]
)
def test_interleaved_and_aborted_transactions_arrive_as_a_reader_sees_them(
    flow: Flow, isolation: str, records: int
) -> None:
    topic = flow.create()
    write_interleaved(flow, topic)

    outcome = flow.mirror_once(consumer_isolation_level=isolation)

    assert outcome.records == records
    assert flow.assert_mirrored(topic, isolation=isolation) == records


def test_the_mirror_of_a_transaction_is_not_itself_transactional(flow: Flow) -> None:
    topic = flow.create()
    writer = Writer(flow.source, topic, transactional=flow.alias)
    writer.begin()
    writer.batch(numbered(range(3)))
    writer.commit()

    flow.mirror_once()

    # A transactional batch without a marker behind it would hide everything from this reader.
    found = read_all(flow.target, flow.remote(topic), isolation="read_committed")[0]
    assert [record.offset for record in found] == [0, 1, 2]


def test_an_open_transaction_is_waited_for_under_read_committed(flow: Flow) -> None:
    topic = flow.create()
    Writer(flow.source, topic).batch(numbered(range(5)))
    writer = Writer(flow.source, topic, transactional=flow.alias)
    writer.begin()
    writer.batch(numbered(range(5, 10)))
    committed = {"consumer_isolation_level": "read_committed"}

    with flow.running(**committed) as mirror:
        mirror.wait_for_records(5)
        before = read_all(flow.target, flow.remote(topic))[0]
        writer.commit()
        mirror.wait_for_records(10)

    assert len(before) == 5
    assert flow.assert_mirrored(topic) == 10


def test_a_bounded_run_ends_at_an_open_transaction_and_the_next_one_goes_on(flow: Flow) -> None:
    topic = flow.create()
    Writer(flow.source, topic).batch(numbered(range(5)))
    writer = Writer(flow.source, topic, transactional=flow.alias)
    writer.begin()
    writer.batch(numbered(range(5, 10)))

    first = flow.mirror_once(consumer_isolation_level="read_committed")
    writer.abort()
    Writer(flow.source, topic).batch(numbered(range(10, 12)))
    second = flow.mirror_once(consumer_isolation_level="read_committed")

    assert (first.records, second.records) == (5, 2)
    assert flow.assert_mirrored(topic) == 7


def test_the_position_passes_dropped_data_at_the_end_of_a_partition(flow: Flow) -> None:
    """An aborted transaction and its marker are done with, so the lag that is shown is zero."""
    topic = flow.create()
    writer = Writer(flow.source, topic, transactional=flow.alias)
    writer.begin()
    writer.batch(numbered(range(5)))
    writer.abort()

    with flow.running(consumer_isolation_level="read_committed") as mirror:
        receipt = eventually(
            lambda: mirror.receipt(topic), lambda r: r is not None and r.position == 6
        )

    assert receipt is not None
    assert (receipt.records, receipt.source_end) == (0, 6)
