"""Every kind of record arrives as it was: key, value, headers, timestamp, partition, order."""

from __future__ import annotations

import pytest

from support.clusters.reading import read_all
from support.clusters.writing import New, numbered, write
from support.flows.mirroring import Flow

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def test_records_of_every_codec_arrive_as_they_were(flow: Flow) -> None:
    """MirrorSourceTaskTest.testSerde, testPoll"""
    topics = []
    for codec in CODECS:
        topic = flow.create(codec, partitions=2)
        write(
            flow.source,
            topic,
            numbered(range(500)) + numbered(range(500, 700), partition=1),
            numbered(range(700, 701)),
            codec=codec,
        )
        topics.append(topic)

    outcome = flow.mirror_once()

    assert outcome.records == 5 * 701
    assert flow.assert_mirrored(*topics) == 5 * 701


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_null_and_empty_fields_stay_apart(flow: Flow, codec: str) -> None:
    topic = flow.create()
    written = [
        New(value=None, key=b"tombstone"),
        New(value=b"", key=b"empty value"),
        New(value=b"null key", key=None),
        New(value=b"empty key", key=b""),
        New(value=None, key=None),
        New(value=b"", key=b""),
        New(
            value=b"headers",
            headers=[("h", b"1"), ("h", b"2"), ("h", None), ("", b""), ("h", b"1")],
        ),
        New(value=None, key=None, headers=[("only", None)]),
    ]
    write(flow.source, topic, written, codec=codec)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == len(written)
    found = read_all(flow.target, flow.remote(topic))[0]
    assert [(r.value, r.key, r.headers) for r in found] == [
        (w.value, w.key, tuple(w.headers)) for w in written
    ]


def test_records_of_no_byte_and_of_900_kilobytes_arrive(flow: Flow) -> None:
    topic = flow.create()
    write(
        flow.source,
        topic,
        [New(value=b"")],
        [New(value=b"\x00\xff" * 450_000, key=b"large")],
        [New(value=b""), New(value=b"x" * 900_000), New(value=b"")],
    )

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 5
    sizes = [len(r.value or b"") for r in read_all(flow.target, flow.remote(topic))[0]]
    assert sorted(sizes) == [0, 0, 0, 900_000, 900_000]


def test_a_create_time_topic_keeps_the_producers_timestamps(flow: Flow) -> None:
    topic = flow.create(configs={"message.timestamp.type": "CreateTime"})
    times = [1_600_000_000_000, 1_000, 1_700_000_000_000, 1_650_000_000_123]
    write(flow.source, topic, [New(value=b"%d" % time, timestamp=time) for time in times])

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 4
    assert [r.timestamp for r in read_all(flow.target, flow.remote(topic))[0]] == times


@pytest.mark.parametrize("codec", CODECS)
def test_a_log_append_time_topic_arrives_with_the_time_its_reader_sees(
    flow: Flow, codec: str
) -> None:
    topic = flow.create(configs={"message.timestamp.type": "LogAppendTime"})
    write(flow.source, topic, numbered(range(10)), numbered(range(10, 15)), codec=codec)

    flow.mirror_once()

    assert flow.assert_mirrored(topic) == 15
    found = read_all(flow.target, flow.remote(topic))[0]
    assert min(r.timestamp for r in found) > 1_750_000_000_000, "not the producer's time of 2023"


def test_timestamps_create_keeps_the_original_time_of_a_log_append_time_topic(flow: Flow) -> None:
    topic = flow.create(configs={"message.timestamp.type": "LogAppendTime"})
    write(flow.source, topic, numbered(range(10)), codec="lz4")

    flow.mirror_once(timestamps="create")

    found = read_all(flow.target, flow.remote(topic))[0]
    assert [r.timestamp for r in found] == [1_700_000_000_000 + n for n in range(10)]
    assert [r.value for r in found] == [b"value %d" % n for n in range(10)]
