"""What the target has already is left out, record for record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.client.producer import Outgoing
from heliograph.model import Lease
from heliograph.pipeline.forward import forward, leave_out
from heliograph.pipeline.progress import PartitionCopy
from heliograph.records.batch import PREFIX
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.wire.fetch import FetchedPartition

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def batches(sizes: list[int]) -> list[Outgoing]:
    """As fetched: whole batches at ascending offsets."""
    out, offset = [], 1000
    for size in sizes:
        out.append(Outgoing(memoryview(log_batch(offset, size)), size, offset, offset + size))
        offset += size
    return out


def log_batch(offset: int, size: int) -> bytearray:
    records = [Record(timestamp=n, key=b"%d" % n, value=None) for n in range(offset, offset + size)]
    data = bytearray(encode(records))
    data[: PREFIX.size] = PREFIX.pack(offset, len(data) - PREFIX.size)
    return data


def keys(found: list[Outgoing]) -> list[int]:
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


def copying(position: int, skip: int) -> PartitionCopy:
    lease = Lease(flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=position)
    copy = PartitionCopy(lease, position, position, None)
    copy.skip = skip
    return copy


@pytest.mark.parametrize(
    ("skip", "holes"),
    [(4, False), (5, False), (6, True), (20, True)],
)
def test_a_gap_among_records_that_are_skipped_leaves_a_doubt(skip: int, holes: bool) -> None:
    """Compaction may have removed records since they were copied: counting them would lose others."""
    found = forward(
        copying(10, skip), answer((10, 5), (17, 5)), append_time=True, subject="orders-0"
    )

    assert found.holes is holes


def test_without_anything_to_skip_gaps_do_not_matter() -> None:
    found = forward(copying(10, 0), answer((10, 5), (17, 5)), append_time=True, subject="x")

    assert not found.holes
    assert [out.first_offset for out in found.batches] == [10, 17]
    assert found.position == 22
