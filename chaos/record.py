"""Encodes and decodes the records of the writers, which the oracle identifies.

    value    <writer>:<partition>:<sequence>:<CRC-32 of all the rest, 8 hex digits>:<filler>

A record identifies its writer, its partition and its number, and its checksum shows whether it is intact.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

_FILLER_BYTES = (20, 400)
_POOL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Identity:
    writer: int
    partition: int
    sequence: int


class Filler:
    """Bytes of random length that do not compress; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._pool = self._random.randbytes(_POOL_BYTES)

    def next(self) -> bytes:
        size = self._random.randint(*_FILLER_BYTES)
        start = self._random.randrange(_POOL_BYTES - size)
        return self._pool[start : start + size]


def encode(identity: Identity, filler: bytes) -> bytes:
    head = b"%d:%d:%d:" % (identity.writer, identity.partition, identity.sequence)
    return b"%s%08x:%s" % (head, zlib.crc32(filler, zlib.crc32(head)), filler)


def decode(value: bytes | None) -> Identity | None:
    """None for a value that no writer wrote, or that was altered."""
    try:
        writer, partition, sequence, checksum, filler = (value or b"").split(b":", 4)
        head = b"%s:%s:%s:" % (writer, partition, sequence)
        if int(checksum, 16) != zlib.crc32(filler, zlib.crc32(head)):
            return None
        return Identity(int(writer), int(partition), int(sequence))
    except ValueError:
        return None
