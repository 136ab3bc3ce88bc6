"""Exact translation: every upstream offset against the records that an independent client finds."""

from __future__ import annotations

from itertools import pairwise

from heliograph.mm2.offset_map import OffsetMap
from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.mm2.state_records import state_topic
from heliograph.model import TopicPartition
from support.clusters.reading import Read, offsets, read_all
from support.clusters.writing import (
    COMPACTED,
    New,
    Writer,
    create_topics,
    delete_records,
    interleave,
    numbered,
    stop_compaction,
    write,
)
from support.flows.mirroring import Flow, Running
from support.waiting import eventually

COMMITTED = {"consumer_isolation_level": "read_committed"}


def stored_offset_map(flow: Flow, topic: str, partition: int = 0) -> OffsetMap:
    records = read_all(flow.target, state_topic(flow.alias))[0]
    loaded = load_offset_maps((record.key, record.value) for record in records)
    assert loaded.malformed == ()
    return loaded.offset_maps.get(TopicPartition(topic, partition), OffsetMap())


def assert_exact(flow: Flow, topic: str, ranges: OffsetMap) -> None:
    """Each offset from the log start to the end goes to the first record that is at or after it."""
    source = read_all(flow.source, topic)[0]
    target = read_all(flow.target, flow.remote(topic))[0]
    place = {record.value: record.offset for record in target}
    start, end = offsets(flow.source, topic)
    _, target_end = offsets(flow.target, flow.remote(topic))
    wrong = []
    for upstream in range(start, end + 1):
        behind = [record for record in source if record.offset >= upstream]
        expected = place[behind[0].value] if behind else target_end
        found = ranges.translate(upstream)
        if found != expected:
            wrong.append((upstream, expected, found))
    assert not wrong, f"(upstream, expected, found): {wrong[:10]}; {list(ranges)[:20]}"


def test_a_plain_topic_is_one_range_over_restarts(flow: Flow) -> None:
    topic = flow.create()
    create_topics(flow.target, {flow.remote(topic): 1})
    write(flow.target, flow.remote(topic), [New(value=b"not ours")])
    write(flow.source, topic, *(numbered(range(n, n + 50)) for n in range(0, 200, 50)))
    flow.mirror_once()
    write(flow.source, topic, numbered(range(200, 230)))
    flow.mirror_once()

    ranges = stored_offset_map(flow, topic)

    assert [tuple(each) for each in ranges] == [(0, 1, 230)]
    assert_exact(flow, topic, ranges)


def test_markers_and_aborted_records_are_holes_that_translate_exactly(flow: Flow) -> None:
    topic = flow.create()
    first = Writer(flow.source, topic, transactional=f"{flow.alias}-1", codec="lz4")
    second = Writer(flow.source, topic, transactional=f"{flow.alias}-2")

    interleave(first, second)
    flow.mirror_once(**COMMITTED)
    interleave(first, second, 1000)
    flow.mirror_once(**COMMITTED)

    assert_exact(flow, topic, stored_offset_map(flow, topic))


def test_holes_of_compaction_and_a_start_inside_a_batch_translate_exactly(flow: Flow) -> None:
    topic = flow.create(configs=COMPACTED)
    batches = [
        [
            New(value=b"%d of %d" % (n, turn), key=b"key %d" % (n % 10))
            for n in range(turn, turn + 13)
        ]
        for turn in range(0, 130, 13)
    ]
    write(flow.source, topic, *batches)
    numbers = iter(range(1000))

    def look() -> list[Read]:
        # The active segment is never compacted: an append is what closes it.
        write(flow.source, topic, [New(value=b"last word %d" % next(numbers), key=b"closer")])
        return read_all(flow.source, topic)[0]

    def has_holes(records: list[Read]) -> bool:
        return any(after.offset > before.offset + 1 for before, after in pairwise(records))

    found = eventually(look, has_holes)
    stop_compaction(flow.source, topic)
    write(flow.source, topic, numbered(range(20)))
    delete_records(flow.source, topic, before=found[2].offset + 1)
    assert has_holes(read_all(flow.source, topic)[0])
    flow.mirror_once()

    assert_exact(flow, topic, stored_offset_map(flow, topic))


def test_receipts_tell_of_ranges_while_the_mirror_runs(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(100)))
    heard = OffsetMap()

    def listen(mirror: Running) -> int | None:
        receipt = mirror.receipt(topic)
        for each in receipt.ranges if receipt is not None else ():
            heard.append(each)
        assert receipt is None or receipt.records == 0 or receipt.copied_ms > 1_700_000_000_000
        return heard.translate(99)

    with flow.running() as mirror:
        eventually(lambda: listen(mirror), lambda found: found is not None)
        write(flow.source, topic, numbered(range(100, 120)))
        eventually(lambda: (listen(mirror), heard.translate(119))[1], lambda found: found == 119)
    assert_exact(flow, topic, heard)
    assert_exact(flow, topic, stored_offset_map(flow, topic))


def test_a_rewind_overrides(flow: Flow) -> None:
    """As after `auto.offset.reset` on a topic that was created anew: old places are forgotten."""
    topic = flow.create()
    write(flow.source, topic, numbered(range(50)))
    flow.mirror_once()
    # Without stored offsets the mirror starts from the beginning again.
    forget_offsets(flow, topic)
    write(flow.source, topic, numbered(range(50, 60)))
    flow.mirror_once()

    ranges = stored_offset_map(flow, topic)

    assert [tuple(each) for each in ranges] == [(0, 50, 60)]


def forget_offsets(flow: Flow, topic: str) -> None:
    """Write the tombstone that `DELETE /connectors/…/offsets` would."""
    for number, records in read_all(flow.target, flow.offsets_topic).items():
        for record in records:
            if topic.encode() in (record.key or b""):
                write(
                    flow.target,
                    flow.offsets_topic,
                    [New(value=None, key=record.key, partition=number)],
                )
                return
    raise AssertionError("no offset is stored")
