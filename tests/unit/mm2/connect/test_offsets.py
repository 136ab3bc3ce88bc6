from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.connect.offsets import (
    UNUSED_OFFSET_VALUE,
    OtherOffset,
    SourceOffset,
    checkpoint_offset_key,
    heartbeat_offset_key,
    murmur2_partition,
    read_source_offset,
    source_offset_key,
    source_offset_value,
)
from heliograph.mm2.malformed import Malformed

KEY = b'["MirrorSourceConnector",{"cluster":"primary","partition":0,"topic":"test-topic-1"}]'
CHECKPOINT_KEY = (
    b'["MirrorCheckpointConnector",{"partition":0,"topic":"primary.test-topic-1","group":"g1"}]'
)
HEARTBEAT_KEY = (
    b'["MirrorHeartbeatConnector",{"sourceClusterAlias":"primary","targetClusterAlias":"backup"}]'
)
UTF8_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_key_and_value_have_the_bytes_that_connect_writes() -> None:
    key = source_offset_key("MirrorSourceConnector", "primary", "test-topic-1", 0)

    assert key == KEY
    assert source_offset_value(123) == b'{"offset":123}'


def test_keys_of_checkpoints_and_heartbeats_have_the_bytes_that_connect_writes() -> None:
    checkpoint = checkpoint_offset_key("MirrorCheckpointConnector", "primary.test-topic-1", 0, "g1")
    heartbeat = heartbeat_offset_key("MirrorHeartbeatConnector", "primary", "backup")

    assert (checkpoint, heartbeat) == (CHECKPOINT_KEY, HEARTBEAT_KEY)
    assert read_source_offset(checkpoint, UNUSED_OFFSET_VALUE) == OtherOffset(
        connector="MirrorCheckpointConnector"
    )


def test_strings_are_escaped_as_jackson_does() -> None:
    """The expected bytes are the output of Jackson 2.21 for the same string."""
    text = 'é€\U0001f600\x1f\x7f\b\t\n\f\r"\\/<\u2028\ud800x'

    key = source_offset_key(text, "a", "t", 0)

    jackson = (
        "22c3a9e282ac5c75443833445c75444530305c75303031467f5c625c745c6e5c665c725c225c5c2f3ce280a8"
        "5c754438303078" + "22"
    )
    assert key.startswith(b"[" + bytes.fromhex(jackson) + b",")


@given(UTF8_TEXT, UTF8_TEXT, st.integers(0, 2**31 - 1), st.none() | st.integers(0, 2**63 - 2))
def test_what_is_written_can_be_read(
    cluster: str, topic: str, partition: int, offset: int | None
) -> None:
    key = source_offset_key("name", cluster, topic, partition)
    value = None if offset is None else source_offset_value(offset)

    assert read_source_offset(key, value) == SourceOffset(
        connector="name", cluster=cluster, topic=topic, partition=partition, offset=offset
    )


def test_mirroring_resumes_after_the_stored_offset() -> None:
    """MirrorSourceTaskTest.testSeekBehaviorDuringStart"""

    def resume_at(value: bytes | None) -> int | None:
        stored = read_source_offset(KEY, value)
        assert isinstance(stored, SourceOffset)
        return stored.resume_at

    assert resume_at(b'{"offset":0}') == 1
    assert resume_at(b'{"offset":-1}') is None
    assert resume_at(None) is None


def test_offsets_of_other_connectors_are_told_apart() -> None:
    key = b'["MirrorHeartbeatConnector",{"sourceClusterAlias":"A","targetClusterAlias":"B"}]'

    stored = read_source_offset(key, b'{"offset":0}')

    assert stored == OtherOffset(connector="MirrorHeartbeatConnector")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, b"{}", "key: null"),
        (b"", b"{}", "key: not JSON"),
        (b"\xff", b"{}", "key: not JSON"),
        (b"[" * 100_000, b"{}", "key: not JSON"),
        (b"{}", b"{}", "key: expected [connector name"),
        (KEY, b'{"offset":9223372036854775807}', "63 bits"),
        (KEY.replace(b"test-topic-1", rb"\uD800"), b'{"offset":1}', "lone surrogates"),
        (KEY.replace(b":0", b":-1"), b"{}", "found -1"),
        (KEY.replace(b":0", b":true"), b"{}", "found True"),
        (KEY.replace(b'"primary"', b"7"), b"{}", "must be strings"),
        (KEY.replace(b",", b", "), b"{}", "not the bytes"),
        (KEY, b"12", "value: expected"),
        (KEY, b'{"offset":"5"}', "value: expected"),
        (KEY, b'{"offset":true}', "value: expected"),
        (KEY, b"", "value: not JSON"),
    ],
)
def test_a_malformed_record_says_why_and_does_not_raise(
    key: bytes | None, value: bytes, reason: str
) -> None:
    stored = read_source_offset(key, value)

    assert isinstance(stored, Malformed)
    assert reason in stored.reason


@given(st.binary(), st.none() | st.binary())
def test_no_bytes_make_reading_raise(key: bytes, value: bytes | None) -> None:
    read_source_offset(key, value)


def test_a_negative_offset_is_never_written() -> None:
    with pytest.raises(ValueError, match="expected 0 or more, found -1"):
        source_offset_value(-1)


@pytest.mark.parametrize(
    ("key", "partition"),
    [
        (KEY, 14),
        (CHECKPOINT_KEY, 18),
        (HEARTBEAT_KEY, 7),
    ],
)
def test_a_key_goes_to_the_partition_that_kafka_chooses(key: bytes, partition: int) -> None:
    assert murmur2_partition(key, 25) == partition
