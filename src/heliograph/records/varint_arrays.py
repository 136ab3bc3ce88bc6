"""Kafka's variable-length integers (see `varint.py`), many at a time, in byte arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

#: Nine bytes hold 63 bits, which int64 holds without a sign. Of all fields only a timestamp can need a tenth.
MAX_BYTES = 9


class LongVarint(ValueError):
    """A varint of ten or more bytes: valid or not, `varint.py` reads it."""


def read_varints(raw: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The numbers that start at `at`, and the positions after them.

    `raw` must reach `MAX_BYTES` beyond the highest position. Raises LongVarint.
    """
    byte = raw[at].astype(np.int64)
    value = byte & 0x7F
    after = at + 1
    more = np.flatnonzero(byte > 0x7F)
    shift = 7
    while more.size:
        if shift == 7 * MAX_BYTES:
            raise LongVarint
        byte = raw[after[more]].astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        after[more] += 1
        shift += 7
        more = more[byte > 0x7F]
    return (value >> 1) ^ -(value & 1), after


def varint_sizes(values: Ints) -> Ints:
    """How many bytes each number takes."""
    rest = _zigzag(values) >> np.uint64(7)
    size = np.ones(len(values), np.int64)
    while rest.any():
        size += rest > 0
        rest >>= np.uint64(7)
    return size


def write_varints(out: Bytes, at: Ints, values: Ints) -> None:
    """Writes each number at its position, in its shortest form."""
    raw = _zigzag(values)
    live = np.flatnonzero(raw > np.uint64(0x7F))
    byte = raw.astype(np.uint8)
    byte[live] |= np.uint8(0x80)
    out[at] = byte
    raw, at = raw[live] >> np.uint64(7), at[live] + 1
    while at.size:
        more = raw > np.uint64(0x7F)
        byte = raw.astype(np.uint8) & np.uint8(0x7F)
        out[at] = byte | (more.astype(np.uint8) << np.uint8(7))
        raw, at = raw[more] >> np.uint64(7), at[more] + 1


def _zigzag(values: Ints) -> NDArray[np.uint64]:
    return ((values << 1) ^ (values >> 63)).astype(np.uint64)
