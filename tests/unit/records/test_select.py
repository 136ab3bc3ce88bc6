"""The batches selected from fetched data are those that a consumer of the same isolation level sees."""

from __future__ import annotations

import pytest

from heliograph.errors import CorruptRecords
from heliograph.model import AbortedTransaction
from heliograph.records.select import Selection, select
from support.records.batch_oracle import Row, read, with_fields, write
from support.records.java_batches import BATCHES

COMMIT, ABORT = 1, 0


def batch(
    first: int, count: int = 2, *, producer: int = -1, attributes: int = 0, step: int = 1
) -> memoryview:
    rows = [Row(first + n * step, 1_700_000_000_000, b"k", b"v", []) for n in range(count)]
    transactional = 0x10 if producer >= 0 else 0
    return with_fields(
        bytes(write(rows)), pid=producer, attributes=attributes | transactional, base=first
    )


def marker(offset: int, producer: int, type_: int) -> memoryview:
    key = (0).to_bytes(2, "big") + type_.to_bytes(2, "big")
    rows = [Row(offset, 1_700_000_000_000, key, bytes(6), [])]
    return with_fields(bytes(write(rows)), pid=producer, attributes=0x30, base=offset)


def joined(*batches: memoryview) -> memoryview:
    return memoryview(bytearray(b"".join(batches)))


def offsets(selection: Selection) -> list[int]:
    return [row.offset for chosen in selection.batches for row in read(chosen.data)]


def test_plain_batches_pass_as_they_are() -> None:
    data = joined(batch(10), batch(12, 3))

    selection = select(data, position=10)

    assert selection.position == 15
    assert [
        (b.first_offset, b.next_offset, b.record_count, b.repack) for b in selection.batches
    ] == [
        (10, 12, 2, False),
        (12, 15, 3, False),
    ]


def test_a_batch_below_the_position_is_left_out() -> None:
    selection = select(joined(batch(8), batch(10)), position=10)

    assert offsets(selection) == [10, 11]


def test_a_batch_around_the_position_is_repacked_from_there() -> None:
    (chosen,) = select(joined(batch(10, 5)), position=12).batches

    assert (chosen.first_offset, chosen.next_offset, chosen.repack) == (12, 15, True)


def test_a_batch_around_the_end_is_repacked_and_the_position_stops_there() -> None:
    selection = select(joined(batch(10, 5), batch(15)), position=10, end=13)

    assert [b.repack for b in selection.batches] == [True]
    assert selection.position == 13


def test_a_batch_behind_the_end_is_left_out() -> None:
    selection = select(joined(batch(10, 3), batch(13)), position=10, end=13)

    assert offsets(selection) == [10, 11, 12]
    assert selection.position == 13


def test_holes_between_records_call_for_repacking() -> None:
    (chosen,) = select(joined(batch(10, 3, step=2)), position=10).batches

    assert chosen.repack
    assert chosen.next_offset == 15


def test_holes_between_batches_do_not() -> None:
    selection = select(joined(batch(10), batch(20)), position=5)

    assert [b.repack for b in selection.batches] == [False, False]
    assert selection.position == 22


@pytest.mark.parametrize("append_time", [True, False])
def test_append_time_calls_for_repacking_where_it_is_to_be_kept(append_time: bool) -> None:
    data = joined(batch(10, attributes=0x08))

    (chosen,) = select(data, position=10, append_time=append_time).batches

    assert chosen.repack is append_time


def test_an_empty_batch_moves_the_position_and_nothing_else() -> None:
    empty = with_fields(bytes(batch(10))[:61], base=10, last=4, count=0)

    selection = select(joined(empty), position=10)

    assert selection[:3] == ([], 15, True)


def test_control_batches_are_never_forwarded() -> None:
    data = joined(batch(10, producer=7), marker(12, 7, COMMIT), batch(13))

    selection = select(data, position=10)

    assert offsets(selection) == [10, 11, 13, 14]
    assert selection.position == 15


def test_a_marker_at_the_end_moves_the_position() -> None:
    assert select(joined(marker(10, 7, COMMIT)), position=10)[:3] == ([], 11, False)


def test_leader_epochs_are_told_with_where_they_begin_among_the_batches_looked_at() -> None:
    older = bytearray(batch(10))
    older[12:16] = (3).to_bytes(4, "big")  # outside the checksum

    assert select(joined(older), position=11).epochs == ((3, 11),)
    assert select(joined(older, batch(12)), position=10).epochs == ((3, 10), (5, 12))
    assert select(joined(older, batch(12)), position=10, end=12).epochs == ((3, 10),)
    assert select(joined(batch(10), batch(12)), position=10).epochs == ((5, 10),)
    assert select(joined(), position=10).epochs == ()


def test_interleaved_transactions_are_told_apart_by_producer() -> None:
    data = joined(
        batch(10, producer=7),
        batch(12, producer=8),
        batch(14, producer=7),
        marker(16, 7, ABORT),
        batch(17, producer=8),
        marker(19, 8, COMMIT),
        batch(20),
    )

    selection = select(data, position=10, aborted=[AbortedTransaction(7, 10)])

    assert offsets(selection) == [12, 13, 17, 18, 20, 21]


def test_a_producer_is_forwarded_again_behind_its_abort_marker() -> None:
    data = joined(
        batch(10, producer=7), marker(12, 7, ABORT), batch(13, producer=7), marker(15, 7, COMMIT)
    )

    selection = select(data, position=10, aborted=[AbortedTransaction(7, 10)])

    assert offsets(selection) == [13, 14]


def test_one_producer_may_abort_several_transactions_in_one_answer() -> None:
    data = joined(
        batch(10, producer=7),
        marker(12, 7, ABORT),
        batch(13, producer=7),
        marker(15, 7, COMMIT),
        batch(16, producer=7),
        marker(18, 7, ABORT),
    )
    aborted = [AbortedTransaction(7, 16), AbortedTransaction(7, 10)]  # in no particular order

    selection = select(data, position=10, aborted=aborted)

    assert offsets(selection) == [13, 14]
    assert selection.position == 19


def test_an_aborted_transaction_that_began_before_the_fetch_is_dropped() -> None:
    data = joined(batch(10, producer=7), marker(12, 7, ABORT))

    assert offsets(select(data, position=10, aborted=[AbortedTransaction(7, 3)])) == []


def test_a_plain_batch_of_an_aborting_producer_is_forwarded() -> None:
    plain = with_fields(bytes(batch(10)), pid=7)

    assert offsets(select(joined(plain), position=10, aborted=[AbortedTransaction(7, 3)])) == [
        10,
        11,
    ]


def test_without_a_list_of_aborted_transactions_all_data_is_forwarded() -> None:
    data = joined(batch(10, producer=7), marker(12, 7, ABORT))

    assert offsets(select(data, position=10)) == [10, 11]


def test_a_damaged_batch_is_never_forwarded() -> None:
    data = joined(batch(10))
    data[-1] ^= 1

    with pytest.raises(CorruptRecords, match="source offset 10"):
        select(data, position=10)


def test_what_stands_before_a_damaged_batch_is_forwarded() -> None:
    data = joined(batch(10), batch(12), batch(14), batch(16))
    data[2 * len(data) // 4 + 70] ^= 1

    selection = select(data, position=10)

    assert offsets(selection) == [10, 11, 12, 13]
    assert selection.position == 14


def test_a_batch_behind_the_end_says_that_there_is_nothing_before_it() -> None:
    selection = select(joined(batch(10), batch(30)), position=10, end=20)

    assert offsets(selection) == [10, 11]
    assert selection.position == 20


def test_a_cut_batch_is_left_for_the_next_fetch() -> None:
    data = joined(batch(10), batch(12))

    selection = select(data[:-1], position=10)

    assert offsets(selection) == [10, 11]
    assert selection.position == 12


@pytest.mark.parametrize(
    "change",
    [
        {"magic": 3},
        {"magic": -1},
        {"base": -5},
        {"base": 2**63 - 2},
        {"last": -1},
        {"last": -6, "count": -5},
        {"count": -1},
    ],
    ids=str,
)
def test_a_header_that_cannot_be_is_corrupt_although_its_checksum_holds(
    change: dict[str, int],
) -> None:
    data = joined(batch(10), with_fields(bytes(batch(12)), **change))

    assert offsets(select(data, position=10)) == [10, 11]
    with pytest.raises(CorruptRecords, match="expected magic 2"):
        select(data[len(data) // 2 :], position=12)


@pytest.mark.parametrize("offset", [2, 10, 11])
def test_offsets_that_go_back_are_corrupt_and_nothing_is_passed_over(offset: int) -> None:
    """A batch's offset is outside of its checksum; a damaged one must not hide the batches around it."""
    data = joined(batch(10), with_fields(bytes(batch(12)), base=offset), batch(14))

    with pytest.raises(CorruptRecords, match=r"source offset \d+: follows offset \d+"):
        select(data, position=10)


def test_of_two_batches_out_of_order_neither_is_believed() -> None:
    data = joined(batch(10), with_fields(bytes(batch(12)), base=1 << 40), batch(14))

    selection = select(data, position=10)

    assert offsets(selection) == [10, 11]
    assert selection.position == 12


def test_a_marker_that_compaction_has_emptied_ends_nothing() -> None:
    """CompletedFetch.containsAbortMarker"""
    emptied = with_fields(bytes(marker(12, 7, ABORT))[:61], count=0)
    data = joined(batch(10, producer=7), emptied, batch(13, producer=7))

    selection = select(data, position=10, aborted=[AbortedTransaction(7, 10)])

    assert offsets(selection) == []
    assert selection.position == 15


def test_an_old_message_with_an_offset_that_cannot_be_is_corrupt() -> None:
    message = bytearray(BATCHES["magic1-lz4"])
    message[0] = 0x80

    with pytest.raises(CorruptRecords, match="is out of range"):
        select(memoryview(message), position=0)
