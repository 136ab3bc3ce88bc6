"""Records that are too large for the target: what is produced and quarantined, where the copy resumes."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared, prepare
from heliograph.errors import CorruptRecords, RecordTooLarge
from heliograph.model import Lease
from heliograph.records.batch import PREFIX
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.wire.fetch import FetchedPartition

LIMIT = 300


def batch(first: int, *sizes: int, codec: int = 0) -> bytearray:
    """Records with values of these sizes, which no codec makes smaller, at offsets from `first` on."""
    values = [Random(size).randbytes(size) for size in sizes]
    data = encode(
        [Record(timestamp=n, key=b"%d" % (first + n), value=v) for n, v in enumerate(values)],
        codec=codec,
    )
    PREFIX.pack_into(data, 0, first, len(data) - PREFIX.size)
    return data


def copy(position: int = 0, end: int | None = None) -> Partition:
    lease = Lease(
        flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=position, end=end
    )
    made = Partition(lease)
    made.max_bytes = LIMIT
    return made


def run(made: Partition, *batches: bytearray, quarantine: bool = True) -> Prepared:
    records = memoryview(bytearray(b"".join(batches)))
    answer = FetchedPartition("orders", 0, 0, 100, 100, 0, [], records)
    return prepare(made, answer, append_time=True, subject="a->b: x", quarantine=quarantine)


def produced(result: Prepared) -> list[int]:
    return [int(record.key or b"") for batch in result.batches for record in decode(batch.data)]


def omitted_by(result: Prepared) -> list[int]:
    return [record.offset for record in result.oversize]


def all_of(made: Partition, *batches: bytearray) -> tuple[list[int], list[int]]:
    """As a link: again and again from the position, over the same log."""
    mirrored: list[int] = []
    omitted: list[int] = []
    for _ in range(100):
        rest = [data for data in batches if PREFIX.unpack_from(data)[0] + 100 > made.position]
        result = run(made, *rest)
        assert result.failure is None
        if result.position == made.position:
            break
        mirrored += produced(result)
        omitted += omitted_by(result)
        assert all(a < b for a, b in pairwise([*mirrored]))
        assert not omitted or max(mirrored, default=0) < result.position
        made.position = result.position
    return mirrored, omitted


def test_batches_that_fit_pass_as_they_are() -> None:
    result = run(copy(), batch(0, 10, 10), batch(2, 10))

    assert produced(result) == [0, 1, 2]
    assert (result.position, list(result.oversize), result.failure) == (3, [], None)


def test_what_stands_before_a_record_too_large_goes_on_and_it_fails() -> None:
    result = run(copy(), batch(0, 10, 10, 900, 10), batch(4, 10), quarantine=False)

    assert produced(result) == [0, 1]
    assert isinstance(result.failure, RecordTooLarge)
    assert "source offset 2" in str(result.failure)
    assert result.position == 0


def test_a_record_that_is_left_out_comes_behind_what_stands_before_it() -> None:
    result = run(copy(), batch(0, 10, 10, 900, 10), batch(4, 10))

    assert produced(result) == [0, 1]
    assert omitted_by(result) == [2]
    assert (result.position, result.failure) == (3, None)
    (record,) = result.oversize
    assert (record.key, record.timestamp, record.limit) == (b"2", 2, LIMIT)
    assert record.size > 900


def test_records_in_a_row_are_left_out_in_one_go() -> None:
    result = run(copy(), batch(0, 10, 900, 900), batch(3, 900), batch(4, 900, 10), batch(6, 10))

    assert produced(result) == [0]
    assert omitted_by(result) == [1, 2, 3, 4]
    assert result.position == 5


def test_a_row_is_bounded() -> None:
    result = run(copy(), batch(0, *[900] * 30))

    assert omitted_by(result) == list(range(20))
    assert result.position == 20


@pytest.mark.parametrize("codec", range(5))
def test_nothing_is_passed_over_and_nothing_twice(codec: int) -> None:
    sizes = [10, 900, 900, 10, 10, 900, 10, *[900] * 25, 10, 900]
    made = copy()
    batches = [batch(n, *sizes[n : n + 5], codec=codec) for n in range(0, len(sizes), 5)]

    mirrored, omitted = all_of(made, *batches)

    assert mirrored == [n for n, size in enumerate(sizes) if size == 10]
    assert omitted == [n for n, size in enumerate(sizes) if size == 900]
    assert made.position == len(sizes)


def test_the_end_of_a_lease_holds_for_what_is_left_out_too() -> None:
    result = run(copy(end=2), batch(0, 10, 900, 900))

    assert produced(result) == [0]
    assert omitted_by(result) == [1]
    assert result.position == 2


def test_a_damaged_batch_fails_with_the_partition_and_the_offset() -> None:
    data = batch(7, 10)
    data[-1] ^= 1

    result = run(copy(7), data)

    assert isinstance(result.failure, CorruptRecords)
    assert str(result.failure).startswith("a->b: x: record batch at source offset 7: ")
    assert (result.batches, result.position) == ([], 7)


def test_what_the_target_has_already_was_not_too_large_for_it() -> None:
    """Numbers begin anew behind each record that is left out: none of those counted off was."""
    made = copy()
    made.numbers.skip = 3

    result = run(made, batch(0, 10, 10, 900, 10, 10))

    assert [out.record_count for out in result.there] == [3]
    assert omitted_by(result) == []
    assert (produced(result), result.position) == ([3, 4], 5)
