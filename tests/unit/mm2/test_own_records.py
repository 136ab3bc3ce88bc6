"""MM2's own records: the bytes of Java, and a reader that no bytes can break."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.heartbeat import Heartbeat, read_heartbeat
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_sync import OffsetSync, read_offset_sync
from heliograph.model import TopicPartition

Own = OffsetSync | Checkpoint | Heartbeat
Reader = Callable[[bytes | None, bytes | None], Own | Malformed]

SYNC = OffsetSync("topic-1", 2, 3, 4)
CHECKPOINT = Checkpoint("group-1", "topic-2", 3, 4, 5, "metadata-6")
HEARTBEAT = Heartbeat("source-1", "target-2", 1234567890)
RECORDS: list[tuple[Own, Reader]] = [
    (SYNC, read_offset_sync),
    (CHECKPOINT, read_checkpoint),
    (HEARTBEAT, read_heartbeat),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
I32 = st.integers(-(2**31), 2**31 - 1)
I64 = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (SYNC, "0007746f7069632d3100000002", "00000000000000030000000000000004"),
        (
            CHECKPOINT,
            "000767726f75702d310007746f7069632d3200000003",
            "000000000000000000040000000000000005000a6d657461646174612d36",
        ),
        (HEARTBEAT, "0008736f757263652d3100087461726765742d32", "000000000000499602d2"),
    ],
)
def test_records_have_the_bytes_of_java(record: Own, key: str, value: str) -> None:
    """OffsetSyncTest.testSerde, CheckpointTest.testSerde, HeartbeatTest.testSerde"""
    assert (record.key().hex(), record.value().hex()) == (key, value)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (SYNC, "OffsetSync{topicPartition=topic-1-2, upstreamOffset=3, downstreamOffset=4}"),
        (
            CHECKPOINT,
            "Checkpoint{consumerGroupId=group-1, topicPartition=topic-2-3, upstreamOffset=4, "
            "downstreamOffset=5, metadata=metadata-6}",
        ),
        (
            HEARTBEAT,
            "Heartbeat{sourceClusterAlias=source-1, targetClusterAlias=target-2, "
            "timestamp=1234567890}",
        ),
    ],
)
def test_records_print_as_the_console_formatters_do(record: Own, line: str) -> None:
    assert str(record) == line


def test_partitions_are_named() -> None:
    assert SYNC.topic_partition == TopicPartition("topic-1", 2)
    assert CHECKPOINT.topic_partition == TopicPartition("topic-2", 3)


@given(st.builds(OffsetSync, TEXT, I32, I64, I64))
def test_what_an_offset_sync_writes_can_be_read(record: OffsetSync) -> None:
    assert read_offset_sync(record.key(), record.value()) == record


@given(st.builds(Checkpoint, TEXT, TEXT, I32, I64, I64, TEXT))
def test_what_a_checkpoint_writes_can_be_read(record: Checkpoint) -> None:
    assert read_checkpoint(record.key(), record.value()) == record


@given(st.builds(Heartbeat, TEXT, TEXT, I64))
def test_what_a_heartbeat_writes_can_be_read(record: Heartbeat) -> None:
    assert read_heartbeat(record.key(), record.value()) == record


@pytest.mark.parametrize(("record", "read"), RECORDS)
def test_a_record_cut_off_anywhere_is_malformed_and_says_where(record: Own, read: Reader) -> None:
    key, value = record.key(), record.value()
    for size in range(len(key)):
        assert isinstance(read(key[:size], value), Malformed)
    for size in range(len(value)):
        assert isinstance(read(key, value[:size]), Malformed)
    assert read(None, value) == Malformed("key: null")
    assert read(key, None) == Malformed("value: null")


@pytest.mark.parametrize(("record", "read"), RECORDS)
def test_bytes_behind_the_last_field_are_passed_over(record: Own, read: Reader) -> None:
    """As in Java, so that a later version may add fields."""
    assert read(record.key() + b"x", record.value() + b"y") == record


@pytest.mark.parametrize(("record", "read"), RECORDS[1:])
def test_an_unknown_version_is_malformed(record: Own, read: Reader) -> None:
    """MirrorRecordVersionTest"""
    assert read(record.key(), b"\x00\x01" + record.value()[2:]) == Malformed(
        "version: expected 0, found 1"
    )


def test_a_string_with_a_negative_length_or_bad_utf8_is_malformed() -> None:
    assert read_offset_sync(b"\xff\xff" + bytes(8), bytes(16)) == Malformed(
        "topic: a string of -1 bytes, found 8"
    )
    read = read_offset_sync(b"\x00\x01\xff" + bytes(4), bytes(16))
    assert isinstance(read, Malformed)
    assert "topic: not UTF-8" in read.reason


@given(st.none() | st.binary(), st.none() | st.binary())
def test_no_bytes_make_reading_raise(key: bytes | None, value: bytes | None) -> None:
    for _, read in RECORDS:
        read(key, value)


def test_a_string_that_does_not_fit_is_never_written() -> None:
    with pytest.raises(ValueError, match="at most 32767 bytes, found 32768"):
        OffsetSync("x" * 32768, 0, 0, 0).key()
