"""Records of internal topics, damaged: read, or returned as malformed; never raised."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import HeliographError
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.connect.offsets import (
    SourceOffset,
    checkpoint_offset_key,
    heartbeat_offset_key,
    read_source_offset,
    source_offset_key,
    source_offset_value,
)
from heliograph.mm2.heartbeat import Heartbeat, read_heartbeat
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import LOST, OffsetRange
from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.mm2.offset_sync import ORIGIN_HEADER, OffsetSync, read_offset_sync, read_origin
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import (
    FlowStatus,
    LogsRecord,
    OffsetMapSegment,
    PartitionStatus,
    ProducerSnapshotRecord,
    segments_of,
)
from heliograph.model import (
    IsolationLevel,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants
from support.records.statuses import FLOW, PARTITION

TP = TopicPartition("größe", 3)
SYNC = OffsetSync("topic-1", 2, 3, 4)
CHECKPOINT = Checkpoint("group-1", "topic-2", 3, 4, 5, "metadata-6")
HEARTBEAT = Heartbeat("source-1", "target-2", 1234567890)
State = OffsetMapSegment | PartitionStatus | ProducerSnapshotRecord | FlowStatus | LogsRecord
SNAPSHOT = ProducerSnapshotRecord(
    topic_partition=TP,
    remote_topic="us.orders",
    snapshot=ProducerSnapshot(12, 7, 5, ProducerIdentity(4000, 0), (-1, 12)),
)
SEGMENT = segments_of(
    TP, [OffsetRange(5, 0, 10), OffsetRange(20, LOST, 5), OffsetRange(30, 17, 0)]
)[0]
LOGS = LogsRecord(
    connector="c", topic="t", origin=TopicIdPair("s", "t"), syncs_id="x", syncs_from=7
)
STATE: list[State] = [SEGMENT, PARTITION, SNAPSHOT, LOGS, replace(FLOW, topics=("a", "b"))]

OFFSET_KEYS = [
    source_offset_key("MirrorSourceConnector", "us", "größe", 0),
    checkpoint_offset_key("MirrorCheckpointConnector", "us.orders", 0, "billing"),
    heartbeat_offset_key("MirrorHeartbeatConnector", "us", "eu"),
]
OFFSET_VALUES = [source_offset_value(123), b'{"offset":-1}', b"null", b'{"offset":1e3}']
#: What may stand in JSON, at the wrong place.
ODD: list[object] = [
    *(
        None,
        True,
        -1,
        0,
        1.5,
        float("nan"),
        float("inf"),
        2**31,
        2**63 - 1,
        2**63,
        10**30,
        10**5000,
    ),
    *("", "x", "RUNNING", "\ud800", [], {}, ["x"], [1, 2, 3], [[1, 2]], {"a": 1}),
]
DEEP = [b"[" * 5000, b'{"a":' * 5000]

Own = OffsetSync | Checkpoint | Heartbeat
Pair = tuple[bytes, bytes | None]


@st.composite
def json_mutants(draw: st.DrawFn, examples: list[bytes]) -> bytes:
    """A member of the document replaced by something of another kind, or taken out; or damaged bytes."""
    document = json.loads(draw(st.sampled_from(examples)))
    for _ in range(draw(st.integers(0, 2))):
        document = _changed(draw, document)
    data = _dumps(document)
    return draw(st.just(data) | mutants([data]) | st.sampled_from(DEEP))


def _changed(draw: st.DrawFn, node: Any) -> Any:
    if not isinstance(node, dict | list) or not node or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(ODD))
    at = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
    copy = node.copy()
    if draw(st.integers(0, 4)):
        copy[at] = _changed(draw, node[at])
    else:
        del copy[at]
    return copy


def _dumps(document: object) -> bytes:
    sys.set_int_max_str_digits(0)
    try:
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    finally:
        sys.set_int_max_str_digits(4300)
    return text.encode(errors="backslashreplace")


@pytest.mark.parametrize(
    ("record", "read"),
    [(SYNC, read_offset_sync), (CHECKPOINT, read_checkpoint), (HEARTBEAT, read_heartbeat)],
    ids=["offset sync", "checkpoint", "heartbeat"],
)
@given(st.data())
def test_mm2s_own_records_are_read_as_they_are_written_or_malformed(
    record: Own, read: Callable[[bytes | None, bytes | None], Own | Malformed], data: st.DataObject
) -> None:
    key = data.draw(st.none() | mutants([record.key()]))
    value = data.draw(st.none() | mutants([record.value()]))

    found = survives(lambda: read(key, value), len(key or b"") + len(value or b""))

    assert isinstance(found, type(record) | Malformed)
    if not isinstance(found, Malformed):
        assert key is not None
        assert value is not None
        assert key.startswith(found.key())
        assert value.startswith(found.value())


@given(st.none() | mutants([b"q6ZKvGjVRtOgHqzQjM0Ylg/J8kPzqyVQnWZl2sXoT4YqA"]))
def test_the_topics_of_a_sync_are_read_whatever_stands_in_its_header(value: bytes | None) -> None:
    found = survives(lambda: read_origin(((ORIGIN_HEADER, value),)), len(value or b""))

    assert all(each is None or each for each in found)


@given(
    st.none() | st.sampled_from(OFFSET_KEYS) | json_mutants(OFFSET_KEYS),
    st.none() | json_mutants(OFFSET_VALUES),
)
def test_an_offset_that_is_read_can_be_resumed_at(key: bytes | None, value: bytes | None) -> None:
    found = survives(lambda: read_source_offset(key, value), len(key or b"") + len(value or b""))

    assert not isinstance(found, HeliographError)
    if isinstance(found, SourceOffset):
        assert found.resume_at is None or 0 < found.resume_at < 2**63
        key_again = source_offset_key(found.connector, found.cluster, found.topic, found.partition)
        assert key_again == key
        found.topic.encode()


@st.composite
def states(draw: st.DrawFn, examples: Sequence[State]) -> Pair:
    """Key and value, one of them or both damaged."""
    state = draw(st.sampled_from(examples))
    key, value = state.key(), state.value()
    if draw(st.booleans()):
        key = draw(json_mutants([key]))
    if value is not None and draw(st.booleans()):
        value = draw(st.none() | json_mutants([value]))
    return key, value


@given(states(STATE))
def test_a_state_that_is_read_has_the_types_it_says(state: Pair) -> None:
    key, value = state

    found = survives(lambda: read_state(key, value), len(key) + len(value or b""))

    assert not isinstance(found, HeliographError)
    if isinstance(found, State):
        again = read_state(found.key(), found.value())
        assert again == found
        str(found).encode()
    if isinstance(found, ProducerSnapshotRecord):
        upstream, downstream, sequence, identity, stored, isolation, mark, _ = found.snapshot
        struct.pack(
            ">qqihq", upstream + 1, downstream, sequence, identity.epoch, identity.producer_id
        )
        struct.pack(f">{len(stored)}q", *stored)
        assert isolation is None or isinstance(isolation, IsolationLevel)
        struct.pack(">qq", *(mark or (0, 0)))
    if isinstance(found, PartitionStatus):
        assert all(
            type(number) is int for number in (found.position, found.source_end, found.copied_ms)
        )
        assert isinstance(found.flow, str)
        assert found.error is None or isinstance(found.error, str)
    if isinstance(found, FlowStatus):
        assert type(found.at_ms) is type(found.since_ms) is int
        assert all(isinstance(text, str) for text in (found.source, found.policy, found.state))
        assert all(isinstance(text, str) for text in (*found.problems, *found.problems.values()))


@at_most(30)
@given(st.lists(states([SEGMENT]), max_size=6))
def test_damaged_segments_do_not_keep_the_others_from_being_loaded(records: list[Pair]) -> None:
    good = segments_of(TopicPartition("good", 0), [OffsetRange(0, 0, 10)])
    records = [*records, *((segment.key(), segment.value()) for segment in good)]
    size = sum(len(key) + len(value or b"") for key, value in records)

    loaded = survives(lambda: load_offset_maps(records), size)

    assert not isinstance(loaded, HeliographError)
    assert list(loaded.offset_maps[TopicPartition("good", 0)]) == [OffsetRange(0, 0, 10)]
