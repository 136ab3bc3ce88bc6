"""Heliograph's own state topic: bytes, malformed records, and segments whose number stays bounded."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.mm2 import offset_map_segments as module
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import LOST, OffsetMap, OffsetRange
from heliograph.mm2.offset_map_segments import MAX_SEGMENTS, OffsetMapSegments, load_offset_maps
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import (
    Failure,
    FlowStatus,
    GapRecord,
    LogsRecord,
    OffsetMapSegment,
    PartitionStatus,
    ProducerSnapshotRecord,
    first_problems,
    segment_key,
    segments_of,
    state_topic,
)
from heliograph.model import (
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)
from support.records.statuses import FLOW, PARTITION

TP = TopicPartition("orders", 0)
KEY = b'["stretches","orders",0,12345]'
SNAPSHOT = b'["trail","orders",0]'


def _snapshot(**changed: object) -> bytes:
    snapshot = {"remote_topic": "us.orders", "upstream": 12, "downstream": 7, "sequence": 5}
    return json.dumps(snapshot | {"producer": [4000, 0], "stored": [-1, 12]} | changed).encode()


def test_the_topic_is_internal_to_every_mm2() -> None:
    assert state_topic("us") == "mm2-heliograph.us.internal"


def test_a_snapshot_has_these_bytes() -> None:
    committed = IsolationLevel.READ_COMMITTED
    snapshot = ProducerSnapshot(
        12, 7, 5, ProducerIdentity(4000, 0), (-1, 12), committed, LeaderEpochMark(15, 2)
    )
    record = ProducerSnapshotRecord(topic_partition=TP, remote_topic="us.orders", snapshot=snapshot)

    assert record.key() == b'["trail","orders",0]'
    assert record.value() == (
        b'{"remote_topic":"us.orders","upstream":12,"downstream":7,"sequence":5,'
        b'"producer":[4000,0],"stored":[-1,12],"isolation":"read_committed","mark":[15,2]}'
    )
    assert read_state(record.key(), record.value()) == record
    assert read_state(record.key(), None) is None
    assert isinstance(read_state(record.key(), record.value().replace(b"12,", b"-2,")), Malformed)


def test_a_snapshot_of_a_version_that_noted_less_is_read() -> None:
    value = (
        b'{"remote_topic":"us.orders","upstream":12,"downstream":7,"sequence":5,'
        b'"producer":[4000,0],"stored":[-1,12]}'
    )
    read = read_state(b'["trail","orders",0]', value)

    assert isinstance(read, ProducerSnapshotRecord)
    assert read.snapshot == ProducerSnapshot(12, 7, 5, ProducerIdentity(4000, 0), (-1, 12))


def test_a_segment_has_these_bytes() -> None:
    segment = OffsetMapSegment(
        topic_partition=TP,
        first=12345,
        ranges=(OffsetRange(12345, 7, 100), OffsetRange(12446, 107, 1)),
    )

    assert segment.key() == segment_key(TP, 12345) == KEY
    assert segment.value() == b'{"stretches":[[12345,7,100],[12446,107,1]]}'
    assert read_state(segment.key(), segment.value()) == segment


GAPS = GapRecord(
    topic="orders",
    partition=3,
    flow="us->eu",
    gaps=2,
    unmirrored=15,
    last=Gap(GapKind.OVERTAKEN, 10, 15, -1, 1_700_000_000_000),
    failure=Failure(position=10, stored=-1),
)


@pytest.mark.parametrize(
    "status",
    [
        PARTITION,
        replace(PARTITION, mark=LeaderEpochMark(7, 2), origin=TopicIdPair("MQ", None)),
        FLOW,
        GAPS,
        replace(GAPS, failure=None),
    ],
)
def test_what_a_status_writes_can_be_read(
    status: PartitionStatus | FlowStatus | GapRecord,
) -> None:
    assert read_state(status.key(), status.value()) == status
    assert read_state(status.key(), None) is None
    assert read_state(status.key(), status.value()[:-1] + b',"later":1}') == status


def test_a_status_stays_one_small_record_however_many_problems_there_are() -> None:
    many = {f"topic {n}": f"topic {n}: refused" for n in range(20_000)}

    status = replace(FLOW, problems=first_problems(many))

    assert len(status.value()) < 20_000
    assert list(status.problems)[:2] == ["topic 0", "topic 1"]
    assert status.problems["19,900 more"].startswith("see the log of the service")
    few = dict(list(many.items())[:100])
    assert first_problems(few) == few


@pytest.mark.parametrize(
    ("stored", "lifted"), [(10, False), (None, False), (7, True), (11, True), (0, True)]
)
def test_only_an_offset_that_somebody_else_stored_lifts_a_failure(
    stored: int | None, lifted: bool
) -> None:
    assert Failure(position=10, stored=-1).lifted_by(stored) is lifted


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, b"{}", "key: null"),
        (b"\xff", b"{}", "decode"),
        (b"[" * 100_000, b"{}", "RecursionError"),
        (b'["stretches"]', b"{}", "key: not a key of the state topic"),
        (b'["stretches","orders",-1,0]', b"{}", "found -1"),
        (b'["stretches","orders",true,0]', b"{}", "found True"),
        (KEY, b"{}", "KeyError"),
        (KEY, b'{"stretches":[[1,2]]}', "TypeError"),
        (KEY, b'{"stretches":[[1,2,3]]}', "expected to start at 12345"),
        (KEY, b'{"stretches":[[12345,0,1.5]]}', "found"),
        (KEY, b'{"stretches":[[12345,0,2],[12346,2,2]]}', "after upstream offset 12347"),
        (KEY, b"7", "TypeError"),
        (b'["partition","orders",0]', b'{"flow":"x"}', "KeyError"),
        (b'["partition","orders",0]', b"[]", "AttributeError"),
        (b'["gaps","orders",0]', b'{"last":["OVERTAKEN",1,"2"]}', "expected a number, found '2'"),
        (b'["gaps","orders",0]', b'{"last":["LOST",1,2,3]}', "LOST"),
        (b'["gaps","orders",-1]', b"{}", "found -1"),
        (b'["flow","x"]', b'{"source":"x"}', "TypeError"),
        (b'["flow","x"]', b'{"at_ms":"soon"}', "expected a number, found 'soon'"),
        (b'["flow","x"]', b'{"topics":[7]}', "expected a string, found 7"),
        (b'["flow","x"]', b'{"problems":["x"]}', "AttributeError"),
        (b'["partition","orders",0]', b'{"position":1e3}', "expected a number, found 1000.0"),
        (b'["partition","orders",0]', b'{"flow":null}', "expected a string, found None"),
        (rb'["partition","\ud800",0]', None, "UnicodeEncodeError"),
        (b'["stretches","orders",0,true]', None, "key: not a key of the state topic"),
        (SNAPSHOT, _snapshot(sequence=2**31), "sequence or epoch out of range"),
        (SNAPSHOT, _snapshot(producer=[4000, 2**15]), "sequence or epoch out of range"),
        (SNAPSHOT, _snapshot(upstream=2**63), "expected offsets and numbers"),
        (SNAPSHOT, _snapshot(remote_topic=None), "expected a string, found None"),
    ],
)
def test_a_malformed_record_says_why_and_does_not_raise(
    key: bytes | None, value: bytes | None, reason: str
) -> None:
    read = read_state(key, value)

    assert isinstance(read, Malformed)
    assert reason in read.reason


@given(st.binary(), st.none() | st.binary())
def test_no_bytes_make_reading_raise(key: bytes, value: bytes | None) -> None:
    read_state(key, value)
    read_state(KEY, value)


# ── segments ───────────────────────────────────────────────────────────────────────────────────


class Topic:
    """The state topic as compaction leaves it: the newest value of each key, in order of writing."""

    def __init__(self) -> None:
        self.records: dict[bytes, bytes | None] = {}

    def write(self, segments: list[OffsetMapSegment] | tuple[OffsetMapSegment, ...]) -> None:
        for segment in segments:
            self.records.pop(segment.key(), None)
            self.records[segment.key()] = segment.value()

    def load(self) -> OffsetMap:
        return load_offset_maps(self.records.items()).offset_maps.get(TP, OffsetMap())


def test_the_open_segment_is_rewritten_under_its_key() -> None:
    log, topic = OffsetMapSegments(TP), Topic()
    log.append(OffsetRange(5, 0, 10))
    topic.write(log.take())
    assert log.take() == []
    log.append(OffsetRange(15, 10, 10))
    topic.write(log.take())

    assert topic.records == {segment_key(TP, 5): b'{"stretches":[[5,0,20]]}'}


def test_a_range_that_goes_on_is_known_by_its_begin_until_another_begins() -> None:
    log = OffsetMapSegments(TP)
    log.append(OffsetRange(0, 0, 10))
    assert log.begun
    log.take()

    log.append(OffsetRange(10, 10, 5))
    assert not log.begun
    log.append(OffsetRange(16, 15, 5))
    assert log.begun


def test_a_full_segment_is_written_once_and_the_oldest_are_taken_out_again() -> None:
    log, topic = OffsetMapSegments(TP), Topic()
    for n in range((MAX_SEGMENTS + 5) * 1000):
        log.append(OffsetRange(2 * n, n, 1))
        if n % 7000 == 0:
            topic.write(log.take())
    topic.write(log.take())

    live = [value for value in topic.records.values() if value is not None]
    assert len(live) == MAX_SEGMENTS + 1
    assert topic.load().translate(2 * n) == n


def test_a_rewind_begins_a_new_segment_that_overrides() -> None:
    log, topic = OffsetMapSegments(TP), Topic()
    log.append(OffsetRange(0, 0, 10))
    log.append(OffsetRange(20, 10, 10))
    topic.write(log.take())
    log.append(OffsetRange(5, 20, 3))
    topic.write(log.take())

    assert list(topic.load()) == [OffsetRange(0, 0, 5), OffsetRange(5, 20, 3)]


def test_restarts_do_not_pile_up_segments() -> None:
    topic = Topic()
    for session in range(100):
        log = OffsetMapSegments(TP)
        log.append(OffsetRange(10 * session, 10 * session, 10))
        topic.write(log.take())
        loaded = load_offset_maps(topic.records.items())
        topic.write(loaded.rewrites)
        live = [value for value in topic.records.values() if value is not None]
        assert len(live) <= 1 + 8

    assert list(topic.load()) == [OffsetRange(0, 0, 1000)]


def test_what_lies_below_the_log_start_goes_out_of_the_topic() -> None:
    topic = Topic()
    topic.write(segments_of(TP, [OffsetRange(0, 0, 10)]))
    topic.write(segments_of(TP, [OffsetRange(20, 10, 10)]))

    loaded = load_offset_maps(topic.records.items(), {TP: 40})

    assert loaded.offset_maps == {}
    assert {segment.first: segment.ranges for segment in loaded.rewrites} == {0: (), 20: ()}


def test_other_and_malformed_records_do_not_keep_segments_from_being_read() -> None:
    records = [
        (FLOW.key(), FLOW.value()),
        (KEY, b"?"),
        (PARTITION.key(), PARTITION.value()),
        *((c.key(), c.value()) for c in segments_of(TP, [OffsetRange(0, 0, 10)])),
    ]

    loaded = load_offset_maps(records)

    assert list(loaded.offset_maps[TP]) == [OffsetRange(0, 0, 10)]
    assert len(loaded.malformed) == 1


SESSIONS = st.lists(
    st.tuples(
        st.integers(-30, 3),  # where it starts, from where the last one ended
        st.integers(0, 2),  # downstream records in between
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 5)), max_size=25),
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(SESSIONS, st.booleans(), st.integers(1, 7))
def test_the_topic_translates_as_the_ranges_do_over_restarts_and_rewinds(
    sessions: list[tuple[int, int, list[tuple[int, int, int]]]], lose: bool, every: int
) -> None:
    small = pytest.MonkeyPatch()
    small.setattr("heliograph.mm2.state_records.SEGMENT_RANGES", 4)
    small.setattr(module, "SEGMENT_RANGES", 4)
    try:
        check_sessions(sessions, lose=lose, every=every)
    finally:
        small.undo()


def check_sessions(
    sessions: list[tuple[int, int, list[tuple[int, int, int]]]], *, lose: bool, every: int
) -> None:
    topic, expected = Topic(), OffsetMap()
    upstream = downstream = 0
    for start, foreign, runs in sessions:
        upstream, downstream = max(upstream + start, 0), downstream + foreign
        log = OffsetMapSegments(TP)
        for number, (hole, gap, count) in enumerate(runs):
            upstream, downstream = upstream + hole, downstream + gap
            lost = lose and number % 5 == 4
            each = OffsetRange(upstream, LOST if lost else downstream, count)
            log.append(each)
            expected.append(each)
            upstream, downstream = upstream + count, downstream + count
            if number % every == 0:
                topic.write(log.take())
        topic.write(log.take())
        assert list(topic.load()) == list(expected)
        topic.write(load_offset_maps(topic.records.items()).rewrites)
        assert list(topic.load()) == list(expected)


def test_segments_and_logs_name_the_topics_they_are_about() -> None:
    origin = TopicIdPair("source-id", "target-id")
    (segment,) = segments_of(TP, [OffsetRange(5, 0, 10)], origin)
    logs = LogsRecord(connector="c", topic="t", origin=origin, syncs_id="x", syncs_from=12)

    assert segment.value() == b'{"stretches":[[5,0,10]],"origin":["source-id","target-id"]}'
    assert logs.key() == b'["logs","c","t"]'
    for record in (segment, logs):
        assert read_state(record.key(), record.value()) == record
    assert isinstance(read_state(logs.key(), b'{"origin":[1,2]}'), Malformed)
    assert read_state(logs.key(), None) is None
