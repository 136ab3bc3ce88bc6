"""Measures records per second of repacking, per codec and reason, on one core.

Run with: python benchmarks/measures/repack_speed.py [seconds per figure, default 0.5]
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from struct import pack_into

from fastcrc import crc32

from heliograph.records.codecs import NAMES, compress
from heliograph.records.decode import Record
from heliograph.records.encode import encode_record
from heliograph.records.framing import frame
from heliograph.records.repack import repack

_BATCH_BYTES = 16 * 1024
_BASE = 1_000_000


def _records(count: int) -> list[Record]:
    """About 100 bytes of value each, JSON that compresses to about a third, a millisecond apart."""
    dice = random.Random(7)
    rows = []
    for number in range(count):
        value = {"id": number, "name": f"product {dice.randrange(1000)}", "price": dice.random()}
        text = json.dumps(value)
        text += dice.randbytes(25).hex()[: 100 - len(text)]
        rows.append(
            Record(
                timestamp=1_700_000_000_000 + number,
                key=b"%06d" % dice.randrange(1_000_000),
                value=text.encode(),
            )
        )
    return rows


def _batch(records: Sequence[Record], deltas: Sequence[int], codec: int) -> memoryview:
    base = records[0].timestamp
    section = b"".join(
        encode_record(record, record.timestamp - base, delta)
        for record, delta in zip(records, deltas, strict=True)
    )
    batch = frame(
        [compress(codec, section)],
        attributes=codec | 0x08,
        count=len(records),
        base_timestamp=base,
        max_timestamp=records[-1].timestamp,
    )
    pack_into(">q", batch, 0, _BASE)
    pack_into(">i", batch, 23, deltas[-1])
    pack_into(">I", batch, 17, crc32.iscsi(memoryview(batch)[21:]))
    return memoryview(batch)


def _rate(work: Callable[[], object], records: int, seconds: float) -> float:
    best = 0.0
    for _ in range(5):
        done = 0
        start = time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds / 5:
            work()
            done += records
        best = max(best, done / spent)
    return best


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    records = _records(_BATCH_BYTES // 110)
    count = len(records)
    dense = list(range(count))
    every_third = list(range(0, 3 * count, 3))
    far = list(range(9000, 9000 + 2 * count, 2))
    print(f"{count} records per batch, thousand records/s, best of 5")
    print(
        f"{'codec':8}{'holes':>10}{'far holes':>11}{'mid start':>11}{'append time':>13}{'split':>8}"
    )
    for codec, name in enumerate(NAMES):
        holes, sparse = _batch(records, every_third, codec), _batch(records, far, codec)
        full = _batch(records, dense, codec)
        tasks = [
            (partial(repack, holes, first=0), count),
            (partial(repack, sparse, first=0), count),
            (partial(repack, full, first=_BASE + 1), count - 1),
            (partial(repack, full, first=0, append_time=True), count),
            (partial(repack, full, first=0, max_bytes=len(full) - 1), count),
        ]
        rates = [_rate(work, kept, seconds) / 1000 for work, kept in tasks]
        print("{:8}{:10.0f}{:11.0f}{:11.0f}{:13.0f}{:8.0f}".format(name, *rates))


if __name__ == "__main__":
    main()
