"""A mirror that was killed goes on where its records end on the target: nothing twice, nothing left out.

What a crash leaves behind is a target that is newer than the offsets and snapshots of its mirror. That is
made here by putting older ones back: every moment of a crash looks like that.
"""

from __future__ import annotations

import json
import logging

import pytest
from confluent_kafka import Producer

from heliograph.mm2.state_records import state_topic
from support.clusters.reading import Read, read_all
from support.clusters.writing import (
    COMPACTED,
    New,
    Writer,
    delete_records,
    numbered,
    set_topic_config,
    stop_compaction,
    write,
)
from support.flows.mirroring import TARGET, Flow
from support.waiting import eventually

COMMITTED = {"consumer_isolation_level": "read_committed"}
EXACTLY_ONCE = {f"{TARGET}.exactly.once.source.support": "enabled"}
Internal = dict[tuple[str, bytes], bytes | None]


def internal(flow: Flow) -> Internal:
    """The newest offsets and snapshots of a flow."""
    found: Internal = {}
    for topic in (flow.offsets_topic, state_topic(flow.alias)):
        for records in read_all(flow.target, topic).values():
            found |= {(topic, r.key): r.value for r in records if r.key is not None}
    wanted = (b'["trail"', b'["MirrorSourceConnector"')
    return {key: value for key, value in found.items() if key[1].startswith(wanted)}


def put_back(flow: Flow, records: Internal) -> None:
    producer = Producer(
        {"bootstrap.servers": flow.target.bootstrap_servers, "partitioner": "murmur2_random"}
    )
    for (topic, key), value in records.items():
        producer.produce(topic, key=key, value=value)
    assert producer.flush(30) == 0


def values(flow: Flow, topic: str, partition: int = 0) -> list[bytes | None]:
    return [r.value for r in read_all(flow.target, flow.remote(topic))[partition]]


def test_what_landed_after_the_last_snapshot_is_not_copied_again(flow: Flow) -> None:
    topic = flow.create(partitions=3)
    write(flow.source, topic, numbered(range(10)), numbered(range(4), partition=1))
    flow.mirror_once()
    before = internal(flow)
    for first in range(10, 25, 5):
        write(flow.source, topic, numbered(range(first, first + 5)))
    write(flow.source, topic, numbered(range(7), partition=2))
    flow.mirror_once()
    put_back(flow, before)
    write(flow.source, topic, numbered(range(25, 30)), numbered(range(4, 6), partition=1))

    outcome = flow.mirror_once()

    assert outcome.records == 7
    flow.assert_mirrored(topic)


def test_markers_and_aborted_records_do_not_count(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))
    flow.mirror_once(**COMMITTED)
    before = internal(flow)
    writer = Writer(flow.source, topic, transactional=f"{flow.alias}-writer")
    for first, commit in ((3, True), (6, False), (9, True)):
        writer.begin()
        writer.batch(numbered(range(first, first + 3)))
        writer.commit() if commit else writer.abort()
    flow.mirror_once(**COMMITTED)
    put_back(flow, before)
    write(flow.source, topic, numbered(range(12, 15)))

    outcome = flow.mirror_once(**COMMITTED)

    assert outcome.records == 3
    flow.assert_mirrored(topic)


def test_what_landed_before_a_switch_to_exactly_once_is_not_copied_again(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    write(flow.source, topic, numbered(range(10)), numbered(range(4), partition=1))
    flow.mirror_once(**COMMITTED)
    before = internal(flow)
    for first in range(10, 25, 5):
        write(flow.source, topic, numbered(range(first, first + 5)))
    flow.mirror_once(**COMMITTED)
    put_back(flow, before)
    write(flow.source, topic, numbered(range(25, 30)), numbered(range(4, 6), partition=1))

    first_time = flow.mirror_once(EXACTLY_ONCE, **COMMITTED)
    write(flow.source, topic, numbered(range(30, 33)))
    second_time = flow.mirror_once(EXACTLY_ONCE, **COMMITTED)

    assert (first_time.records, second_time.records) == (7, 3)
    flow.assert_mirrored(topic)


@pytest.mark.parametrize("mode", [{}, EXACTLY_ONCE], ids=["default", "exactly once"])
def test_no_committed_record_is_lost_when_the_isolation_level_changes_after_a_crash(
    flow: Flow, caplog: pytest.LogCaptureFixture, mode: dict[str, str]
) -> None:
    """What landed under read_uncommitted has aborted records among it: as many committed ones are others."""
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))
    flow.mirror_once()
    before = internal(flow)
    writer = Writer(flow.source, topic, transactional=f"{flow.alias}-writer")
    for first, commit in ((3, False), (6, True), (9, False)):
        writer.begin()
        writer.batch(numbered(range(first, first + 3)))
        writer.commit() if commit else writer.abort()
    flow.mirror_once()
    put_back(flow, before)
    write(flow.source, topic, numbered(range(12, 18)))

    flow.mirror_once(mode, **COMMITTED)

    committed = [record.value for record in numbered([0, 1, 2, 6, 7, 8, *range(12, 18)])]
    found = values(flow, topic)
    assert [value for value in committed if value not in found] == []
    assert "under read_uncommitted, and the source is read under read_committed now" in caplog.text


def test_another_isolation_level_after_a_stop_in_order_doubles_nothing(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    flow.mirror_once()
    write(flow.source, topic, numbered(range(5, 8)))

    outcome = flow.mirror_once(**COMMITTED)

    assert outcome.records == 3
    assert "duplicates possible" not in caplog.text
    flow.assert_mirrored(topic)


def test_records_deleted_among_those_that_landed_leave_neither_a_gap_nor_a_partition_stuck(
    flow: Flow,
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))
    flow.mirror_once()
    before = internal(flow)
    for first in range(3, 21, 3):
        write(flow.source, topic, numbered(range(first, first + 3)))
    flow.mirror_once()
    put_back(flow, before)
    delete_records(flow.source, topic, before=10)
    write(flow.source, topic, numbered(range(21, 25)))

    outcome = flow.mirror_once()

    assert outcome.records == 4
    assert values(flow, topic) == [record.value for record in numbered(range(25))]


def test_records_deleted_behind_those_that_landed_are_a_gap_with_its_range(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))
    flow.mirror_once()
    before = internal(flow)
    write(flow.source, topic, numbered(range(3, 10)))
    flow.mirror_once()
    put_back(flow, before)
    write(flow.source, topic, numbered(range(10, 20)))
    delete_records(flow.source, topic, before=15)

    flow.mirror_once()

    expected = [*range(10), *range(15, 20)]
    assert values(flow, topic) == [record.value for record in numbered(expected)]
    assert f"{topic}-0: source offsets 10 to 14 are skipped" in caplog.text


def test_a_stored_offset_that_is_deleted_on_an_idle_partition_is_obeyed(flow: Flow) -> None:
    """After a takeover: the offset was stored by another mirror, and nothing has moved since."""
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    flow.mirror_once()
    offset, snapshot = (key for key in internal(flow))
    assert (offset[0], snapshot[0]) == (flow.offsets_topic, state_topic(flow.alias))
    put_back(flow, {snapshot: None})
    with (
        flow.running() as mirror
    ):  # the takeover: a snapshot that knows of the stored offset, and no other
        eventually(lambda: internal(flow).get(snapshot), lambda value: value is not None)
        eventually(lambda: mirror.receipt(topic), lambda receipt: receipt is not None)
    put_back(flow, {offset: None})

    outcome = flow.mirror_once()

    assert outcome.records == 5
    assert values(flow, topic) == [record.value for record in numbered([*range(5), *range(5)])]


def test_records_of_others_on_the_target_are_told_from_ours(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))
    flow.mirror_once()
    before = internal(flow)
    write(flow.target, flow.remote(topic), [New(b"somebody else's")])
    write(flow.source, topic, numbered(range(3, 6)))
    flow.mirror_once()
    write(flow.target, flow.remote(topic), [New(b"somebody else's")])
    put_back(flow, before)
    write(flow.source, topic, numbered(range(6, 9)))

    outcome = flow.mirror_once()

    assert outcome.records == 3
    ours = [value for value in values(flow, topic) if value != b"somebody else's"]
    assert ours == [record.value for record in numbered(range(9))]


def test_an_offset_that_a_user_has_stored_is_obeyed(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    flow.mirror_once()
    (key,) = (key for key in internal(flow) if key[0] == flow.offsets_topic)
    put_back(flow, {key: b'{"offset":2}'})

    outcome = flow.mirror_once()

    assert outcome.records == 2
    assert values(flow, topic) == [record.value for record in numbered([0, 1, 2, 3, 4, 3, 4])]


def test_compaction_before_the_copy_does_no_harm_and_after_it_nobody_can_tell(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    early = flow.create("early", configs=COMPACTED)
    late = flow.create("late", configs=COMPACTED | {"cleanup.policy": "delete"})  # so far
    for topic in (early, late):
        write(flow.source, topic, [New(b"old", key=b"old")])
    flow.mirror_once()
    before = internal(flow)
    for value in range(8):
        few = [New(b"%d" % value, key=b"same"), New(b"x", key=b"%d" % value)]
        write(flow.source, early, few)
        write(flow.source, late, few)
    compact(flow, early)
    flow.mirror_once()
    put_back(flow, before | renumbered(flow, early, before))
    set_topic_config(flow.source, late, "cleanup.policy", "compact")
    compact(flow, late)

    flow.mirror_once()

    flow.assert_mirrored(early)
    # A fetch ends with a segment: records to skip that span two are translated by offset syncs, and the log
    # says so. No other warning names the topic.
    told = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert all("translated by offset syncs" in line for line in told if early in line), told
    assert f"{late}-0: cannot determine which records" in caplog.text
    newest = {r.key: r.value for r in read_all(flow.target, flow.remote(late))[0]}
    assert newest == {r.key: r.value for r in read_all(flow.source, late)[0]}


def renumbered(flow: Flow, topic: str, before: Internal) -> Internal:
    """The snapshot at the first hole, where numbers began anew: it was written before anything was sent."""
    (key,) = (key for key in before if f'["trail","{topic}"'.encode() in key[1])
    then, now = (json.loads(state[key] or b"") for state in (before, internal(flow)))
    assert now["producer"] != then["producer"]
    return {key: json.dumps({**then, "producer": now["producer"], "sequence": 0}).encode()}


def compact(flow: Flow, topic: str) -> None:
    """Until records are gone; none go after that."""

    def look() -> list[Read]:
        write(flow.source, topic, [New(b"new", key=b"new")])  # closes the segment before it
        return read_all(flow.source, topic)[0]

    eventually(look, lambda records: records[-1].offset + 1 > len(records))
    stop_compaction(flow.source, topic)
