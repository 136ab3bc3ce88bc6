"""Logs that are not a plain row of batches from offset zero on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from support.clusters.reading import Read, offsets, read_all
from support.clusters.writing import (
    COMPACTED,
    New,
    Writer,
    create_topics,
    delete_records,
    numbered,
    stop_compaction,
    write,
)
from support.flows.mirroring import Flow
from support.waiting import eventually


def has_holes(records: list[Read]) -> bool:
    return any(after.offset > before.offset + 1 for before, after in pairwise(records))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_compacted_topic_with_holes_arrives_as_a_reader_sees_it(flow: Flow, codec: str) -> None:
    topic = flow.create(configs=COMPACTED)
    # Ten keys over and over: of these batches little is left, and what is left lies apart.
    batches = [
        [
            New(value=b"%d of %d" % (n, turn), key=b"key %d" % (n % 10))
            for n in range(turn, turn + 13)
        ]
        for turn in range(0, 130, 13)
    ]
    write(flow.source, topic, *batches, [New(value=None, key=b"key 3")], codec=codec)

    def look() -> list[Read]:
        # The active segment is never compacted: an append is what closes it.
        write(flow.source, topic, [New(value=b"last word", key=b"closer")], codec=codec)
        return read_all(flow.source, topic)[0]

    # A read while segments are replaced may begin with an old one.
    eventually(look, lambda found: has_holes(found) and found[0].offset > 0)
    stop_compaction(flow.source, topic)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) >= 10


def test_a_log_that_starts_above_zero_is_mirrored_from_its_start(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)), numbered(range(10, 20)))
    delete_records(flow.source, topic, before=10)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 10


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_a_log_that_starts_in_the_middle_of_a_batch_is_mirrored_from_there(
    flow: Flow, codec: str
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(20)), numbered(range(20, 25)), codec=codec)
    delete_records(flow.source, topic, before=7)
    assert offsets(flow.source, topic) == (7, 25)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 18
    assert read_all(flow.target, flow.remote(topic))[0][0].value == b"value 7"


def test_a_partition_whose_records_are_all_deleted_is_mirrored_as_empty(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(20)))
    delete_records(flow.source, topic, before=20)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 0


def test_records_deleted_behind_the_stored_offset_are_passed_over_and_reported(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))
    flow.mirror_once()
    write(flow.source, topic, numbered(range(10, 20)), numbered(range(20, 30)))
    delete_records(flow.source, topic, before=20)

    outcome = flow.mirror_once()

    assert outcome.records == 10
    found = read_all(flow.target, flow.remote(topic))[0]
    assert [r.value for r in found] == [b"value %d" % n for n in [*range(10), *range(20, 30)]]
    assert "source offsets 10 to 19 are skipped" in caplog.text


def test_empty_partitions_arrive_empty_and_full_ones_full(flow: Flow) -> None:
    topic = flow.create(partitions=5)
    write(flow.source, topic, numbered(range(10), partition=3))

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 10
    assert {n: len(r) for n, r in read_all(flow.target, flow.remote(topic)).items()} == {
        0: 0,
        1: 0,
        2: 0,
        3: 10,
        4: 0,
    }


def test_a_topic_without_any_record_gets_its_mirror(flow: Flow) -> None:
    topic = flow.create(partitions=3)

    outcome = flow.mirror_once()

    assert outcome.records == 0
    assert sorted(read_all(flow.target, flow.remote(topic))) == [0, 1, 2]


def test_two_hundred_topics_of_five_partitions_arrive(flow: Flow) -> None:
    topics = {f"{flow.alias}-{number:03}": 5 for number in range(200)}
    create_topics(flow.source, topics)
    producer = Writer(flow.source, "")
    for number, topic in enumerate(topics):
        # Every fourth topic has records everywhere, the others in one partition.
        full = [record for p in range(5) for record in numbered(range(20), partition=p)]
        few = numbered(range(3), partition=number % 5)
        producer.queue(topic, few if number % 4 else full)
    producer.flush()

    outcome = flow.mirror_once()

    assert outcome.records == 50 * 100 + 150 * 3
    assert flow.assert_mirrored(*topics) == outcome.records
