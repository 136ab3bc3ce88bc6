"""What the target has already is left out, record for record."""

from __future__ import annotations

from struct import Struct

import pytest
from fastcrc import crc32
from hypothesis import given
from hypothesis import strategies as st

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared, leave_out, prepare
from heliograph.copy.state.phases import Phase
from heliograph.errors import CorruptRecords
from heliograph.measured import BatchCounts
from heliograph.model import (
    AbortedTransaction,
    LastBatch,
    Lease,
    ProducerIdentity,
    ProducerSnapshot,
)
from heliograph.plan.resume import Landed
from heliograph.records.batch import ATTRIBUTES_AT, HEADER_BYTES, PREFIX
from heliograph.records.codecs import GZIP
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.records.framing import frame
from heliograph.wire.fetch import FetchedPartition

CRC = Struct(">I")
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def batches(sizes: list[int]) -> list[ProducerBatch]:
    """As fetched: whole batches at ascending offsets."""
    out, offset = [], 1000
    for size in sizes:
        out.append(ProducerBatch(memoryview(log_batch(offset, size)), size, offset, offset + size))
        offset += size
    return out


def log_batch(offset: int, size: int) -> bytearray:
    records = [Record(timestamp=n, key=b"%d" % n, value=None) for n in range(offset, offset + size)]
    data = bytearray(encode(records))
    data[: PREFIX.size] = PREFIX.pack(offset, len(data) - PREFIX.size)
    return data


def emptied() -> bytearray:
    """As compaction leaves the last batch of a producer."""
    data = frame([], attributes=0, count=0, base_timestamp=0, max_timestamp=0)
    data[23:27] = bytes((0, 0, 0, 4))  # lastOffsetDelta
    return sealed(data)


def sealed(data: bytearray) -> bytearray:
    CRC.pack_into(data, 17, crc32.iscsi(memoryview(data)[ATTRIBUTES_AT:]))
    return data


def keys(found: list[ProducerBatch]) -> list[int]:
    return [int(record.key or b"") for out in found for record in decode(out.data)]


@given(SIZES, st.integers(0, 30))
def test_what_is_left_out_and_the_rest_are_what_was_given(sizes: list[int], skip: int) -> None:
    total = sum(sizes)

    there, rest = leave_out(batches(sizes), skip)

    assert sum(out.record_count for out in there) == min(skip, total)
    assert keys(rest) == list(range(1000 + min(skip, total), 1000 + total))
    ends = [out.next_offset for out in (*there, *rest)]
    assert ends == sorted(ends)
    assert ends[-1] == 1000 + total
    assert all(out.record_count == sum(n for _, n in out.runs) for out in rest if out.runs)


def answer(*parts: tuple[int, int]) -> FetchedPartition:
    data = b"".join(log_batch(offset, size) for offset, size in parts)
    return FetchedPartition("orders", 0, 0, 99, 99, 0, [], memoryview(bytearray(data)))


def copying(position: int, skip: int) -> Partition:
    lease = Lease(flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=position)
    copy = Partition(lease)
    copy.numbers.skip = skip
    return copy


def found_there(skip: int, last: int, *, source_end: int = 99) -> Prepared:
    """Of records 10 to 14 and 17 to 21, the first `skip` are on the target, and the last there is `last`."""
    copy = copying(10, skip)
    copy.numbers.landed_last, copy.source_end = bytes(log_batch(last, 1)), source_end
    return prepare(copy, answer((10, 5), (17, 5)), append_time=True, subject="orders-0")


@pytest.mark.parametrize("skip", [4, 5])
def test_a_gap_behind_the_records_that_are_skipped_does_not_matter(skip: int) -> None:
    assert not found_there(skip, last=9 + skip).uncertain


def test_the_last_record_that_is_skipped_must_be_the_targets_last() -> None:
    """The source's log may have taken another course since, or be read otherwise."""
    assert found_there(4, last=99).uncertain


def test_a_gap_among_them_is_older_than_the_copy_if_the_last_one_is_the_targets_last() -> None:
    found = found_there(6, last=17)

    assert not found.uncertain
    assert keys(found.batches) == [18, 19, 20, 21]


def test_a_gap_that_came_later_leaves_a_fallback() -> None:
    """Counting would leave out record 17: the target has 10 to 15, of which 15 is gone since."""
    assert found_there(6, last=15).uncertain


@pytest.mark.parametrize("data", [b"", bytes(emptied())])
def test_a_target_whose_last_batch_is_gone_leaves_a_fallback(data: bytes) -> None:
    copy = copying(10, 6)
    copy.numbers.landed_last, copy.source_end = data, 99

    found = prepare(copy, answer((10, 5), (17, 5)), append_time=True, subject="orders-0")

    assert found.uncertain


def test_a_damaged_batch_among_them_is_the_partitions_failure() -> None:
    """Its header and checksum are right, so that only who opens it finds out."""
    copy = copying(10, 3)
    damaged = log_batch(10, 5)
    damaged[HEADER_BYTES] = 0xFF
    fetched = FetchedPartition("orders", 0, 0, 99, 99, 0, [], memoryview(sealed(damaged)))

    found = prepare(copy, fetched, append_time=True, subject="orders-0")

    assert isinstance(found.failure, CorruptRecords)
    assert (found.batches, found.position) == ([], 10)


def test_a_source_with_fewer_records_than_were_copied_leaves_a_fallback() -> None:
    """Or what comes next would be taken for what is there."""
    assert not found_there(20, last=99).uncertain
    assert found_there(20, last=99, source_end=22).uncertain


def resumed(landed: int, last: bytes) -> Partition:
    """From a snapshot of a version that recorded no isolation level, after which so many records landed."""
    snapshot = ProducerSnapshot(10, 70, 70, ProducerIdentity(7, 0), (10,))
    lease = Lease(
        flow="a->b",
        topic="orders",
        partition=0,
        target_topic="a.orders",
        start=10,
        snapshot=snapshot,
    )
    copy = Partition(lease)
    newest = LastBatch(snapshot.identity, 70 + landed, last)
    copy.compare_target(70 + landed, newest, None)
    copy.resume_behind(Landed(landed, 0), newest)
    copy.recovered()
    copy.source_end = 99
    return copy


@pytest.mark.parametrize(("landed", "position"), [(4, 14), (5, 15), (10, 20)])
def test_without_an_isolation_level_proven_records_are_skipped_and_the_next_epoch_follows(
    landed: int, position: int
) -> None:
    copy = resumed(landed, bytes(log_batch(9 + landed, 1)))

    found = prepare(copy, answer((10, 5), (15, 5)), append_time=True, subject="x")
    copy.fetched(found)

    assert (found.uncertain, found.renumbered, found.batches) == (False, True, [])
    assert (copy.acked, copy.position, copy.phase) == (position, position, Phase.RECOVERING)
    assert (copy.numbers.retired, copy.fallbacks) == (ProducerIdentity(7, 0), 0)


@pytest.mark.parametrize("last", [bytes(log_batch(99, 1)), bytes(emptied()), b""])
def test_without_an_isolation_level_records_that_cannot_be_proven_leave_a_fallback(
    last: bytes,
) -> None:
    copy = resumed(4, last)

    assert prepare(copy, answer((10, 5)), append_time=True, subject="x").uncertain


def test_without_an_isolation_level_and_records_that_landed_the_next_epoch_follows() -> None:
    copy = resumed(0, b"")

    assert (copy.acked, copy.numbers.identity) == (10, None)
    assert (copy.numbers.retired, copy.numbers.skip) == (ProducerIdentity(7, 0), 0)


def test_without_anything_to_skip_gaps_do_not_matter() -> None:
    found = prepare(copying(10, 0), answer((10, 5), (17, 5)), append_time=True, subject="x")

    assert not found.uncertain
    assert [out.first_offset for out in found.batches] == [10, 17]
    assert found.position == 22


def test_batches_are_counted_by_what_becomes_of_them() -> None:
    control = bytearray(log_batch(15, 1))
    control[ATTRIBUTES_AT + 1] |= 0x20
    compacted = log_batch(16, 2)
    compacted[26] = 3  # lastOffsetDelta: 2 of 4 records are left
    compressed = encode([Record(timestamp=1, key=b"k", value=b"v" * 500)], codec=GZIP)
    split_up = bytearray(compressed)
    split_up[: PREFIX.size] = PREFIX.pack(20, len(split_up) - PREFIX.size)
    split_up[ATTRIBUTES_AT + 1] |= 0x08  # LogAppendTime
    data = b"".join(
        map(bytes, (log_batch(10, 5), sealed(control), sealed(compacted), sealed(split_up)))
    )
    fetched = FetchedPartition("orders", 0, 0, 99, 99, 0, [], memoryview(bytearray(data)))

    found = prepare(copying(10, 0), fetched, append_time=True, subject="orders-0")

    assert found.counts == BatchCounts(passed=1, repacked=2, recompressed=1, control=1)
    assert [batch.newest_ms for batch in found.batches][:2] == [14, 17]


def test_data_of_aborted_transactions_is_counted() -> None:
    aborted = bytearray(log_batch(10, 2))
    aborted[ATTRIBUTES_AT + 1] |= 0x10
    aborted[43:51] = (7).to_bytes(8, "big")
    fetched = FetchedPartition(
        *("orders", 0, 0, 99, 99, 0),
        [AbortedTransaction(7, 10)],
        memoryview(bytearray(bytes(sealed(aborted)) + bytes(log_batch(12, 1)))),
    )

    found = prepare(copying(10, 0), fetched, append_time=True, subject="orders-0")

    assert found.counts == BatchCounts(passed=1, aborted=1)
