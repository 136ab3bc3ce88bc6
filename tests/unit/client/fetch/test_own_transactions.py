"""What has become of our transactions in a log: read batch by batch, up to its end."""

from __future__ import annotations

import struct

import pytest

from heliograph.client.fetch.own_transactions import Outcome, _Scan
from heliograph.records.batch import CONTROL, TRANSACTIONAL
from heliograph.wire.fetch import FetchedPartition
from support.records.batch_oracle import Row, with_fields, write

OURS, ANOTHER = 42, 43


def records(base: int, count: int, pid: int = OURS, attributes: int = TRANSACTIONAL) -> bytes:
    rows = [Row(base + n, 1_700_000_000_000, b"k", b"v", []) for n in range(count)]
    return bytes(with_fields(bytes(write(rows)), attributes=attributes, pid=pid))


def marker(base: int, *, commit: bool, pid: int = OURS) -> bytes:
    key = struct.pack(">hh", 0, int(commit))
    batch = bytes(write([Row(base, 1_700_000_000_000, key, bytes(6), [])]))
    return bytes(with_fields(batch, attributes=TRANSACTIONAL | CONTROL, pid=pid))


def scanned(last: int, end: int, *batches: bytes, before: int | None = None) -> _Scan:
    scan = _Scan(end, last, before)
    data = memoryview(b"".join(batches))
    scan.read(0, FetchedPartition("a.t", 0, 0, end, end, 0, [], data))
    return scan


COMMITTED = (records(0, 3), marker(3, commit=True))


@pytest.mark.parametrize(
    ("log", "end", "outcome", "open_from"),
    [
        (COMMITTED, 4, Outcome.COMMITTED, None),
        ((records(0, 3),), 3, Outcome.OPEN, 0),
        ((records(0, 3), marker(3, commit=False)), 4, Outcome.ABORTED, None),
        ((records(0, 3), marker(3, commit=True, pid=ANOTHER)), 4, Outcome.OPEN, 0),
        ((records(0, 3, attributes=0),), 3, Outcome.REPLACED, None),
        ((records(0, 2), marker(2, commit=False)), 3, Outcome.REPLACED, None),
        ((records(0, 1),), 1, Outcome.REPLACED, 0),
        ((records(5, 1),), 6, Outcome.UNKNOWN, 5),
        ((*COMMITTED, records(4, 1)), 5, Outcome.COMMITTED, 4),
        ((*COMMITTED, records(4, 1, pid=ANOTHER)), 5, Outcome.COMMITTED, None),
    ],
    ids=[
        "committed",
        "its marker is lost",
        "the next marker has aborted it",
        "a marker of another producer",
        "another writer's record is there",
        "a marker is there",
        "the log ends before it",
        "deleted",
        "a later record of ours has no marker",
        "a later record of another has no marker",
    ],
)
def test_the_marker_behind_a_record_decides(
    log: tuple[bytes, ...], end: int, outcome: Outcome, open_from: int | None
) -> None:
    scan = scanned(2, end, *log)

    assert (scan.outcome(), scan.open_from(OURS)) == (outcome, open_from)


def test_the_end_of_what_is_committed_is_before_aborted_and_later_records() -> None:
    log = (
        *COMMITTED,
        records(4, 2),
        marker(6, commit=False),
        records(7, 1),
        marker(8, commit=True),
    )

    assert scanned(-1, 9, *log, before=7).committed_end == 3
    assert scanned(-1, 9, *log, before=9).committed_end == 8
    assert scanned(-1, 6, *log[2:3], before=6).committed_end is None
