"""Record batch headers: split a fetched buffer into batches, check them, and rewrite them for producing.

The layout of a magic-2 batch, big endian (`org.apache.kafka.common.record.DefaultRecordBatch`):

     0 baseOffset            i64   must be 0 in a produce request; outside the checksum
     8 batchLength           i32   bytes after this field
    12 partitionLeaderEpoch  i32   overwritten by the broker; outside the checksum
    16 magic                 i8    2 (at byte 16 in the older formats, too)
    17 crc                   u32   CRC-32C over everything from byte 21 on
    21 attributes            i16   codec 0-2 · LogAppendTime 3 · transactional 4 · control 5
                                   · delete horizon 6
    23 lastOffsetDelta       i32
    27 baseTimestamp         i64
    35 maxTimestamp          i64
    43 producerId            i64
    51 producerEpoch         i16
    53 baseSequence          i32
    57 recordCount           i32
    61 records
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from fastcrc import crc32

from heliograph.errors import CorruptRecords

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = HEADER.size
#: baseOffset and batchLength: the beginning of every format.
PREFIX = struct.Struct(">qi")
MAGIC_AT = 16
ATTRIBUTES_AT = 21

CODEC = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

#: The smallest batchLength of magic 2 (an empty batch) and of the older formats (an empty message).
_MIN_LENGTH = HEADER_BYTES - PREFIX.size
_MIN_LEGACY_LENGTH = 14
#: Sequence numbers wrap here (`DefaultRecordBatch.incrementSequence`).
SEQUENCES = 1 << 31

_ATTRIBUTES_TO_COUNT = struct.Struct(">hiqqqhi")
_CRC = struct.Struct(">I")
_MAX_TIMESTAMP = struct.Struct(">q")
_MAX_TIMESTAMP_AT = 35
_MARKER = struct.Struct(">hh")
_ABORT = 0
#: A reader continues at the next offset, which must be valid, too.
LAST_OFFSET = (1 << 63) - 2


class Header(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta


def split(buffer: memoryview) -> Iterator[memoryview]:
    """The whole batches (of any magic) in a fetched buffer, in order, as views into it.

    A fetch may cut its last batch; that one is left out, the next fetch returns it whole.
    """
    position, size = 0, len(buffer)
    while size - position > MAGIC_AT:
        _, length = PREFIX.unpack_from(buffer, position)
        smallest = _MIN_LENGTH if buffer[position + MAGIC_AT] >= 2 else _MIN_LEGACY_LENGTH
        if length < smallest:
            raise CorruptRecords(
                f"record batch at byte {position} of the fetched data: batchLength {length} is "
                f"below the minimum of {smallest}"
            )
        end = position + PREFIX.size + length
        if end > size:
            return
        yield buffer[position:end]
        position = end


def read_header(batch: memoryview) -> Header:
    """The header of a batch of magic 2, unchecked: see `check_header` and `check_crc`."""
    try:
        return Header._make(HEADER.unpack_from(batch))
    except struct.error:
        raise CorruptRecords(
            f"record batch of {len(batch)} bytes: expected at least {HEADER_BYTES}, the size of a header"
        ) from None


def max_timestamp(batch: memoryview) -> int:
    """The newest timestamp of a batch of magic 2, in milliseconds since 1970; -1: it has none."""
    timestamp: int = _MAX_TIMESTAMP.unpack_from(batch, _MAX_TIMESTAMP_AT)[0]
    return timestamp


def check_header(header: Header, subject: str = "record batch") -> None:
    """Check fields that the checksum does not cover (magic, offset), and values that only a faulty writer
    gives."""
    if (
        header.magic == 2
        and header.record_count >= 0
        and header.last_offset_delta >= 0
        and 0 <= header.base_offset <= LAST_OFFSET - header.last_offset_delta
    ):
        return
    raise CorruptRecords(
        f"{subject} at source offset {header.base_offset}: expected magic 2, recordCount and "
        f"lastOffsetDelta of 0 or more, and offsets from 0 to {LAST_OFFSET}, found magic {header.magic}, "
        f"recordCount {header.record_count}, lastOffsetDelta {header.last_offset_delta}"
    )


def check_crc(batch: memoryview, header: Header) -> None:
    """Raises CorruptRecords: a batch damaged on the network or on the source's disk is never copied."""
    found = crc32.iscsi(batch[ATTRIBUTES_AT:])
    if found != header.crc:
        raise CorruptRecords(
            f"record batch at source offset {header.base_offset}: CRC-32C in its header is "
            f"{header.crc:#010x}, CRC-32C of its bytes is {found:#010x}"
        )


def rewrite(
    batch: memoryview,
    *,
    producer_id: int,
    producer_epoch: int,
    sequence: int,
    transactional: bool = False,
) -> None:
    """Make a fetched magic-2 batch acceptable to a produce request, in place.

    Keeps the codec and clears every other attribute: LogAppendTime, control and delete horizon are set by
    brokers, and the transactional bit belongs to the writer's own transaction. Idempotent.
    """
    attributes, last_delta, base_ts, max_ts, _, _, _ = _ATTRIBUTES_TO_COUNT.unpack_from(
        batch, ATTRIBUTES_AT
    )
    attributes = attributes & CODEC | (TRANSACTIONAL if transactional else 0)
    _ATTRIBUTES_TO_COUNT.pack_into(
        batch,
        ATTRIBUTES_AT,
        attributes,
        last_delta,
        base_ts,
        max_ts,
        producer_id,
        producer_epoch,
        sequence,
    )
    batch[0:8] = _ZERO_OFFSET
    batch[12:16] = _NO_EPOCH
    _CRC.pack_into(batch, 17, crc32.iscsi(batch[ATTRIBUTES_AT:]))


_ZERO_OFFSET = bytes(8)
_NO_EPOCH = b"\xff" * 4


def is_abort_marker(batch: memoryview) -> bool:
    """Whether a control batch ends its transaction by aborting it.

    Control batches are never compressed and hold one record, whose key is (version i16, type i16), or none
    after compaction; an empty one ends no transaction (`CompletedFetch.containsAbortMarker`).
    """
    position = HEADER_BYTES
    if read_header(batch).record_count == 0:
        return False
    position = _skip_varint(batch, position) + 1  # length, attributes
    for _ in range(3):  # timestampDelta, offsetDelta, keyLength
        position = _skip_varint(batch, position)
    if position + _MARKER.size > len(batch):
        raise CorruptRecords("control batch: its record ends before the type of its marker")
    _, marker = _MARKER.unpack_from(batch, position)
    return bool(marker == _ABORT)


def _skip_varint(batch: memoryview, position: int) -> int:
    for at in range(position, min(position + 10, len(batch))):
        if batch[at] < 0x80:
            return at + 1
    raise CorruptRecords("control batch: a varint is longer than 10 bytes")
