"""Batches that Java wrote, among them shapes that no broker of today writes any more."""

from __future__ import annotations

import pytest

from heliograph.records.batch import split
from heliograph.records.decode import decode
from heliograph.records.legacy import decode_legacy
from heliograph.records.repack import repack
from support.records.batch_oracle import Row, read
from support.records.java_batches import BATCHES

CODEC = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3}
FIELDS = [(70, 1000, b"k", b"v"), (71, 1005, None, b""), (75, 1003, b"", None)]


def seen_by_a_consumer(name: str) -> list[Row]:
    if "append" in name:
        times = [9999] * 3
    else:
        times = [-1] * 3 if name.startswith("magic0") else [time for _, time, _, _ in FIELDS]
    return [Row(o, time, k, v, []) for (o, _, k, v), time in zip(FIELDS, times, strict=True)]


@pytest.mark.parametrize("name", BATCHES)
def test_what_java_wrote_is_decoded_as_java_consumers_see_it(name: str) -> None:
    legacy = not name.startswith("magic2")

    records = [
        record
        for entry in split(memoryview(BATCHES[name]))
        for record in (decode_legacy(entry) if legacy else decode(entry))
    ]

    assert [Row(r.offset, r.timestamp, r.key, r.value, []) for r in records] == (
        seen_by_a_consumer(name)
    )


@pytest.mark.parametrize("name", BATCHES)
def test_what_java_wrote_is_repacked(name: str) -> None:
    codec = CODEC.get(name.split("-")[1], CODEC["lz4"] if "append" in name else CODEC["none"])

    (batch,) = repack(memoryview(BATCHES[name]), first=71, append_time=True)

    expected = [row._replace(offset=n) for n, row in enumerate(seen_by_a_consumer(name)[1:])]
    assert read(batch.data) == expected
    assert batch.data[21:23] == bytes((0, codec))
    assert (batch.first_offset, batch.next_offset, batch.count) == (71, 76, 2)


def test_java_wrote_the_wrong_lz4_checksum_into_magic_0() -> None:
    assert bytes.fromhex("04224d1860401a") in BATCHES["magic0-lz4"]
    assert bytes.fromhex("04224d18604082") in BATCHES["magic1-lz4"]


def test_records_behind_a_delete_horizon_keep_their_create_time() -> None:
    """The horizon stands in baseTimestamp and deltas count from it, here backwards."""
    (batch,) = repack(memoryview(BATCHES["magic2-horizon"]), first=0)

    assert [row.timestamp for row in read(batch.data)] == [1000, 1005, 1003]
    assert int.from_bytes(batch.data[35:43]) == 1005
