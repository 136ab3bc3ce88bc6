"""The shapes of data that are mirrored, and their generated values."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

# So many values that no batch has one twice: repeats would compress too well.
_POOL = 1000
_LETTERS = string.ascii_letters + string.digits
_WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "ivory", "jetty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`headline` shapes have targets and all rounds; the others have one round.

    `batch_bytes` is the size before compression. `keys`: the number of different keys, drawn at random; the
    topic is compacted before measurements. `rate`: nothing is loaded; so many records a second are written
    while the mirror runs, and latency is measured. More than one of `topics`, each with `partitions` and with
    `records` in all of them together: the work around the data is measured. `killed`: the mirror is killed,
    and its resuming is measured.
    """

    name: str
    about: str
    records: int
    value_bytes: tuple[int, int]  # smallest and largest
    noise: int  # random characters per line item of a value: what a codec cannot shrink
    partitions: int = 4
    compression: str = "lz4"
    batch_bytes: int = 64 * 1024
    keys: int | None = None
    rate: int | None = None
    topics: int = 1
    groups: int = 0
    killed: bool = False
    headline: bool = False

    def quick(self) -> Shape:
        """A tenth of the records, or a twentieth of the topics: for trying the harness, not for figures."""
        if self.topics > 1:
            return replace(
                self,
                records=self.records // 20,
                topics=self.topics // 20,
                groups=self.groups // 20,
            )
        keys = None if self.keys is None else self.keys // 10
        return replace(self, records=self.records // 10, keys=keys)

    @property
    def own_topics(self) -> bool:
        """Whether every run creates its own source topics, since it changes their content."""
        return self.rate is not None or self.topics > 1

    @property
    def records_per_batch(self) -> int:
        return max(1, self.batch_bytes // (sum(self.value_bytes) // 2 + 20))


_MANY_PARTITIONS = Shape(
    name="500-partitions",
    about="1 KB JSON, lz4, one topic with 500 partitions",
    records=1_000_000,
    value_bytes=(1000, 1000),
    noise=52,
    partitions=500,
)
SHAPES = (
    Shape(
        name="json-1k-lz4",
        about="1 KB JSON, lz4, 64 KB batches, 4 partitions",
        records=2_000_000,
        value_bytes=(1000, 1000),
        noise=52,
        headline=True,
    ),
    Shape(
        name="100b-none",
        about="100 bytes, uncompressed, 16 KB batches, 4 partitions",
        records=5_000_000,
        value_bytes=(100, 100),
        noise=20,
        compression="none",
        batch_bytes=16 * 1024,
        headline=True,
    ),
    Shape(
        name="zstd-10k",
        about="10 KB JSON, zstd, 64 KB batches, 4 partitions",
        records=200_000,
        value_bytes=(10_000, 10_000),
        noise=24,
        compression="zstd",
    ),
    # 2,000,000 draws from 1,250,000 keys leave 1,250,000 x (1 - e^-1.6), about 1,000,000 records.
    Shape(
        name="compacted",
        about="100 to 1,000 bytes with keys, lz4, compacted: half of the records are holes",
        records=2_000_000,
        value_bytes=(100, 1000),
        noise=52,
        keys=1_250_000,
    ),
    _MANY_PARTITIONS,
    replace(
        _MANY_PARTITIONS,
        name="resume-500",
        about=f"{_MANY_PARTITIONS.about}; killed and started again",
        killed=True,
    ),
    Shape(
        name="latency-1k",
        about="1,000 records of 1 KB a second, linger 0, 4 partitions",
        records=0,
        value_bytes=(1000, 1000),
        noise=52,
        rate=1000,
    ),
    Shape(
        name="many-topics",
        about="1,000 topics with 5 partitions each, 500 groups with 10 topics each",
        records=25_000,
        value_bytes=(100, 100),
        noise=20,
        partitions=5,
        topics=1000,
        groups=500,
    ),
)


def value_pool(shape: Shape) -> list[bytes]:
    """Values of the shape's sizes, the same in every run."""
    dice = random.Random(shape.name)
    smallest, largest = shape.value_bytes
    return [_value(dice, dice.randint(smallest, largest), shape.noise) for _ in range(_POOL)]


def _value(dice: random.Random, size: int, noise: int) -> bytes:
    """A JSON order of exactly `size` bytes: line items with some words and some noise."""
    order = {"order": dice.randrange(10**8), "customer": dice.choice(_WORDS), "items": []}
    text = json.dumps(order, separators=(",", ":"))[:-2]
    items: list[str] = []
    while len(text) + sum(map(len, items)) + len(items) + noise + 80 < size:
        items.append(_item(dice, noise))
    text += ",".join(items) + '],"etag":"'
    return (text + _random_text(dice, max(0, size - len(text) - 2)) + '"}').encode()[:size]


def _item(dice: random.Random, noise: int) -> str:
    item = {
        "sku": dice.randrange(10**6),
        "name": f"{dice.choice(_WORDS)} {dice.choice(_WORDS)}",
        "price": dice.randrange(10**5) / 100,
        "ref": _random_text(dice, noise),
    }
    return json.dumps(item, separators=(",", ":"))


def _random_text(dice: random.Random, length: int) -> str:
    return "".join(dice.choices(_LETTERS, k=length))


def key_stream(shape: Shape) -> Iterator[int] | None:
    """Numbers of keys within a partition, the same in every run; None for a shape without keys."""
    if shape.keys is None:
        return None
    return _numbers(random.Random(shape.name), shape.keys // shape.partitions)


def _numbers(dice: random.Random, different: int) -> Iterator[int]:
    while True:
        yield int(dice.random() * different)


def named(names: Sequence[str]) -> list[Shape]:
    """The shapes with these names, in the order of SHAPES; KeyError for an unknown name."""
    known = {shape.name for shape in SHAPES}
    for name in names:
        if name not in known:
            raise KeyError(name)
    return [shape for shape in SHAPES if shape.name in names]
