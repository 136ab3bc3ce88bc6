"""CPU of a record from batch to columns and back, beside the scalar codec, on one core.

    python -m benchmarks.columns

Times are the best of several calls, in microseconds of CPU a record, without decompression. "as fetched":
records that a filter kept; "anew": records whose key, value or headers changed. "repack": renumbering a batch
that lost a third of its records to compaction, as the copy does it and by columns. The last lines: chains of
transformations over 1,024 records with 1 KB of JSON each, from columns to columns.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from heliograph.config.transforms.read import read_transforms
from heliograph.records.columns_decode import decode_columns
from heliograph.records.columns_encode import encode_columns
from heliograph.records.decode import Record, decode_section
from heliograph.records.encode import encode, encode_record
from heliograph.records.framing import unframe
from heliograph.records.renumber import renumber
from heliograph.spark.record_columns import from_arrow, to_arrow
from heliograph.transforms.chain import transform

BATCHES = 16
_ROUNDS = 25


@dataclass(frozen=True, slots=True)
class Shape:
    bytes: int
    records: int  # in a batch
    headers: int
    batches: int = BATCHES


SHAPES = (
    Shape(1000, 64, 0),
    Shape(1000, 16, 0),
    Shape(100, 640, 0),
    Shape(100, 160, 0),
    Shape(1000, 64, 2),
    Shape(100, 640, 2),
    Shape(100, 40, 0, batches=1),
    Shape(100, 10, 0, batches=1),
)


def _records(shape: Shape) -> list[Record]:
    dice = random.Random(1)
    headers = tuple((b"header%d" % n, b"content %d" % n) for n in range(shape.headers))
    return [
        Record(
            timestamp=1_700_000_000_000 + n,
            key=b"%06d" % dice.randrange(1_000_000),
            value=json.dumps({"id": n}).encode().ljust(shape.bytes, b"."),
            headers=headers,
        )
        for n in range(shape.records * shape.batches)
    ]


def _cpu(work: Callable[[], object], records: int) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return best / records * 1e6


def measure(shape: Shape) -> dict[str, float]:
    records = _records(shape)
    bounds = range(0, len(records) + 1, shape.records)
    sections = [unframe(memoryview(encode(records[low:high]))) for low, high in pairwise(bounds)]
    columns = decode_columns(sections)
    anew = replace(columns, body=None)
    arrow = to_arrow(columns, "orders", 0)
    cuts = bounds[1:-1]
    work: dict[str, Callable[[], object]] = {
        "decode": lambda: decode_columns(sections),
        "decode, scalar": lambda: [decode_section(section) for section in sections],
        "encode as fetched": lambda: encode_columns(columns, cuts=cuts),
        "encode anew": lambda: encode_columns(anew, cuts=cuts),
        "encode, scalar": lambda: [encode(records[low:high]) for low, high in pairwise(bounds)],
        "to Arrow": lambda: to_arrow(columns, "orders", 0),
        "from Arrow": lambda: from_arrow(arrow),
    }
    return {name: _cpu(each, len(records)) for name, each in work.items()} | _repack(records, shape)


def _repack(records: Sequence[Record], shape: Shape) -> dict[str, float]:
    """One batch a call, as the copy repacks."""
    section = unframe(memoryview(encode(records[: shape.records])))
    kept = [n for n in range(shape.records) if n % 3]
    thinned = replace(section, data=_thinned(records[: shape.records], kept), count=len(kept))

    def by_columns() -> object:
        return encode_columns(decode_columns([thinned]))

    def renumbered() -> object:
        return renumber(thinned.data, len(kept), low=0, high=1 << 40, restamp=False)

    return {
        "repack": _cpu(renumbered, len(kept)),
        "repack by columns": _cpu(by_columns, len(kept)),
    }


def _thinned(records: Sequence[Record], kept: Sequence[int]) -> bytes:
    base = records[0].timestamp
    return b"".join(encode_record(records[n], records[n].timestamp - base, n) for n in kept)


_JSON = {
    "id": 7,
    "email": "someone@example.com",
    "tenant": "t7",
    "amount": 12.5,
    "items": [{"sku": f"S{n}", "qty": n, "note": "express delivery"} for n in range(18)],
}
_TRANSFORMS = "org.apache.kafka.connect.transforms."
CHAINS = {
    "MaskField$Value": {"fields": "email"},
    "ReplaceField$Value": {"exclude": "email", "renames": "tenant:org"},
    "InsertHeader": {"header": "origin", "value.literal": "eu"},
    "RegexRouter": {"regex": "(.*)", "replacement": "eu.$1"},
}


def _chains() -> dict[str, float]:
    value = json.dumps(_JSON).encode()
    records = [Record(offset=n, timestamp=n, key=b"k", value=value) for n in range(1024)]
    columns = decode_columns([unframe(memoryview(encode(records)))])
    figures = {}
    for name, settings in CHAINS.items():
        given = {f"transforms.t.{each}": text for each, text in settings.items()}
        found = read_transforms(
            {"transforms": "t", "transforms.t.type": _TRANSFORMS + name, **given}
        )
        run = partial(transform, found.stages, columns, topic="orders", partition=0)
        figures[name] = _cpu(run, len(records))
    return figures


def main() -> None:
    found = [(shape, measure(shape)) for shape in SHAPES]
    names = list(found[0][1])
    width = max(map(len, names))
    print("microseconds of CPU a record")
    print(" " * width, *(f"{shape.bytes:>7} B" for shape, _ in found))
    print("records a batch".ljust(width), *(f"{shape.records:>9}" for shape, _ in found))
    print("batches a call".ljust(width), *(f"{shape.batches:>9}" for shape, _ in found))
    print("headers".ljust(width), *(f"{shape.headers:>9}" for shape, _ in found))
    for name in names:
        print(name.ljust(width), *(f"{figures[name]:>9.2f}" for _, figures in found))
    for name, figure in _chains().items():
        print(f"{name:<{width}} {figure:>9.2f}")


if __name__ == "__main__":
    main()
