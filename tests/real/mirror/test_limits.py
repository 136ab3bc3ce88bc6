"""What the target does not take as it comes: batches too large are split, records too large wait."""

from __future__ import annotations

from heliograph.model import PartitionState
from support.clusters.quotas import set_client_quota
from support.clusters.reading import offsets, read_all
from support.clusters.writing import New, Writer, create_topics, numbered, set_topic_config, write
from support.flows.mirroring import Flow, mirror_once
from support.waiting import eventually

#: The target's limits are its own; otherwise the source's settings would replace them first.
OWN_SETTINGS = {"sync_topic_configs_enabled": "false"}


def test_a_batch_over_the_targets_limit_is_split(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    create_topics(flow.target, {flow.remote(topic): 2}, configs={"max.message.bytes": "2000"})
    writer = Writer(flow.source, topic)
    for start in range(
        0, 3000, 100
    ):  # many batches, so that others are under way behind a refused one
        writer.batch(numbered(range(start, start + 100), padding=50))
        writer.batch(numbered(range(start, start + 3), partition=1))

    outcome = flow.mirror_once(**OWN_SETTINGS)

    assert outcome.records == 3090
    assert flow.assert_mirrored(topic) == 3090


def test_a_compressed_batch_over_the_targets_limit_is_split(flow: Flow) -> None:
    topic = flow.create()
    create_topics(flow.target, {flow.remote(topic): 1}, configs={"max.message.bytes": "2000"})
    write(flow.source, topic, numbered(range(2000), padding=50), numbered(range(5)), codec="zstd")

    flow.mirror_once(**OWN_SETTINGS)

    assert flow.assert_mirrored(topic) == 2005


def test_what_was_fetched_behind_a_refused_batch_does_not_overtake_it(flow: Flow) -> None:
    """More than one fetch holds: the next one is under way when the target refuses the first batch."""
    topic = flow.create()
    create_topics(flow.target, {flow.remote(topic): 1}, configs={"max.message.bytes": "50000"})
    writer = Writer(flow.source, topic)
    for start in range(0, 6000, 100):
        writer.batch(numbered(range(start, start + 100), padding=1000))

    flow.mirror_once(**OWN_SETTINGS)

    assert flow.assert_mirrored(topic) == 6000


def write_one_too_large(flow: Flow) -> str:
    """Three partitions; in the first, the record at offset 12 is more than the target takes."""
    topic = flow.create(partitions=3)
    create_topics(flow.target, {flow.remote(topic): 3}, configs={"max.message.bytes": "2000"})
    large = New(value=b"x" * 5000, key=b"large")
    write(
        flow.source,
        topic,
        [*numbered(range(10)), *numbered(range(10), partition=1)],
        [*numbered(range(10, 12)), large, *numbered(range(12, 15))],
        numbered(range(15, 20)),
        numbered(range(10), partition=2),
    )
    return topic


def test_a_record_too_large_fails_its_partition_with_the_offset_while_others_arrive(
    flow: Flow,
) -> None:
    topic = write_one_too_large(flow)

    outcome = mirror_once(flow.spark, flow.config(**OWN_SETTINGS))

    (receipt,) = outcome.unfinished
    assert (receipt.topic, receipt.partition, receipt.position) == (topic, 0, 12)
    assert receipt.state is PartitionState.FAILED
    assert receipt.error is not None
    assert "offset 12" in receipt.error
    assert "max.message.bytes" in receipt.error
    found = read_all(flow.target, flow.remote(topic))
    assert [r.value for r in found[0]] == [b"value %d" % n for n in range(12)]
    assert [len(found[1]), len(found[2])] == [10, 10]


def test_a_failed_partition_goes_on_by_itself_once_the_target_takes_more(flow: Flow) -> None:
    topic = write_one_too_large(flow)

    with flow.running(**OWN_SETTINGS) as mirror:
        failed = eventually(
            lambda: mirror.receipt(topic, 0),
            lambda r: r is not None and r.state is PartitionState.FAILED and r.position == 12,
        )
        write(flow.source, topic, numbered(range(10, 20), partition=1))
        eventually(lambda: offsets(flow.target, flow.remote(topic), 1), lambda o: o == (0, 20))
        set_topic_config(flow.target, flow.remote(topic), "max.message.bytes", "100000")
        healed = eventually(
            lambda: mirror.receipt(topic, 0),
            lambda r: r is not None and r.state is PartitionState.RUNNING and r.position == 21,
        )

    assert failed is not None
    assert "offset 12" in (failed.error or "")
    assert healed is not None
    assert healed.error is None
    assert flow.assert_mirrored(topic) == 21 + 20 + 10


def test_what_the_target_refuses_for_another_reason_is_reported(flow: Flow) -> None:
    """A compacted target takes no record without a key."""
    topic = flow.create(partitions=2)
    create_topics(flow.target, {flow.remote(topic): 2}, configs={"cleanup.policy": "compact"})
    write(
        flow.source,
        topic,
        numbered(range(3)),
        [New(value=b"no key")],
        numbered(range(5), partition=1),
    )

    outcome = mirror_once(flow.spark, flow.config(**OWN_SETTINGS))

    (receipt,) = outcome.unfinished
    assert (receipt.partition, receipt.position) == (0, 3)
    assert receipt.state is PartitionState.FAILED
    assert "INVALID_RECORD" in (receipt.error or "").upper().replace(" ", "_")
    assert len(read_all(flow.target, flow.remote(topic))[1]) == 5


def test_a_source_that_throttles_its_readers_is_copied_to_the_end(flow: Flow) -> None:
    """A throttled fetch is answered at once, and empty: that is not the end of the log."""
    topic = flow.create(partitions=2)
    writer = Writer(flow.source, topic)
    for start in range(0, 800, 100):
        writer.batch(
            numbered(range(start, start + 100), padding=5000)
            + numbered(range(start, start + 100), partition=1, padding=5000)
        )
    client_id = f"{flow.name}|MirrorSourceConnector"
    set_client_quota(flow.source, client_id, "consumer_byte_rate", 700_000)

    outcome = flow.mirror_once()

    assert outcome.records == 1600
    assert flow.assert_mirrored(topic) == 1600
