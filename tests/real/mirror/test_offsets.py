"""Where a flow stands is kept in Connect's own records, and is where it goes on."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from support.clusters.reading import read_all
from support.clusters.stored import key_of, store, stored
from support.clusters.writing import Writer, admin, create_topics, numbered, write
from support.flows.mirroring import FEW_PARTITIONS, Flow, load_properties, mirror_once
from support.waiting import PATIENCE_SECONDS, eventually


def test_offsets_are_stored_in_connects_exact_bytes(flow: Flow) -> None:
    topic = flow.create(partitions=3)
    write(flow.source, topic, numbered(range(10)), numbered(range(4), partition=2))

    flow.mirror_once()

    assert stored(flow) == {
        key_of(flow, topic, 0): b'{"offset":9}',
        key_of(flow, topic, 2): b'{"offset":3}',
    }


def mirror_with_defaults(flow: Flow) -> None:
    """As many partitions of the offsets topic as MirrorMaker 2 has."""
    properties = {k: v for k, v in flow.properties().items() if k not in FEW_PARTITIONS}
    outcome = mirror_once(flow.spark, load_properties(flow.folder, properties))
    assert outcome.good, outcome


def test_offset_records_lie_where_kafkas_own_partitioner_puts_them(flow: Flow) -> None:
    topic = flow.create(partitions=20)
    write(flow.source, topic, [r for p in range(20) for r in numbered(range(1), partition=p)])

    mirror_with_defaults(flow)
    ours = {r.key: p for p, rs in read_all(flow.target, flow.offsets_topic).items() for r in rs}
    for partition in range(20):
        store(flow, key_of(flow, topic, partition), b'{"offset":0}')
    both = read_all(flow.target, flow.offsets_topic)

    assert len(ours) == 20
    assert {p: len(records) for p, records in both.items() if records} == {
        p: 2 * list(ours.values()).count(p) for p in set(ours.values())
    }


def test_the_offsets_topic_is_compacted_and_has_25_partitions(flow: Flow) -> None:
    flow.create()

    mirror_with_defaults(flow)

    client: AdminClient = admin(flow.target)
    assert (
        len(
            client.list_topics(flow.offsets_topic, timeout=PATIENCE_SECONDS)
            .topics[flow.offsets_topic]
            .partitions
        )
        == 25
    )
    resource = ConfigResource(ResourceType.TOPIC, flow.offsets_topic)
    configs = client.describe_configs([resource])[resource].result(PATIENCE_SECONDS)
    assert configs["cleanup.policy"].value == "compact"


def test_a_second_run_copies_only_what_has_come_since(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    write(flow.source, topic, numbered(range(10)), numbered(range(10), partition=1))

    first = flow.mirror_once()
    nothing = flow.mirror_once()
    write(flow.source, topic, numbered(range(10, 15)))
    second = flow.mirror_once()

    assert (first.records, nothing.records, second.records) == (20, 0, 5)
    assert flow.assert_mirrored(topic) == 25


def test_a_running_mirror_that_stops_and_starts_loses_and_doubles_nothing(flow: Flow) -> None:
    topic = flow.create(partitions=3)
    writer = Writer(flow.source, topic, codec="lz4")
    copied = 0
    for turn in range(3):
        with flow.running() as mirror:
            writer.batch(
                [
                    r
                    for p in range(3)
                    for r in numbered(range(turn * 50, turn * 50 + 40), partition=p)
                ]
            )
            mirror.wait_for_records(30)  # stopped with records under way, not after the last one
            copied += mirror.stop().records
        writer.batch(
            [
                r
                for p in range(3)
                for r in numbered(range(turn * 50 + 40, turn * 50 + 50), partition=p)
            ]
        )

    copied += flow.mirror_once().records

    assert flow.assert_mirrored(topic) == 450
    assert copied == 450


def test_offsets_are_stored_while_the_mirror_runs(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(7)))

    with flow.running({"b.offset.flush.interval.ms": "200"}) as mirror:
        mirror.wait_for_records(7)
        eventually(lambda: stored(flow), lambda s: s == {key_of(flow, topic): b'{"offset":6}'})


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_a_flow_goes_on_in_the_middle_of_a_batch_where_mirror_maker_left_it(
    flow: Flow, codec: str
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(20)), numbered(range(20, 30)), codec=codec)
    create_topics(flow.target, {flow.offsets_topic: 25}, configs={"cleanup.policy": "compact"})
    store(flow, key_of(flow, topic), b'{"offset":3}')
    store(flow, key_of(flow, topic), b'{"offset":11}')

    outcome = flow.mirror_once()

    assert outcome.records == 18
    found = read_all(flow.target, flow.remote(topic))[0]
    assert [r.value for r in found] == [b"value %d" % n for n in range(12, 30)]
    assert [r.headers for r in found] == [(("number", b"%d" % n),) for n in range(12, 30)]


def test_a_tombstone_in_the_offsets_topic_starts_a_partition_anew(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    flow.mirror_once()
    store(flow, key_of(flow, topic), None)

    again = flow.mirror_once()

    assert again.records == 5


def test_a_stored_offset_past_the_sources_end_starts_over_and_is_reported(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    flow.mirror_once()
    store(flow, key_of(flow, topic), b'{"offset":99}')

    again = flow.mirror_once()

    assert again.records == 5
    assert "offset 100 is past the source's end 5" in caplog.text


def test_offsets_of_other_connectors_and_clusters_are_left_alone(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    create_topics(flow.target, {flow.offsets_topic: 25}, configs={"cleanup.policy": "compact"})
    foreign = {
        key_of(flow, topic).replace(b"MirrorSource", b"Other"): b'{"offset":3}',
        key_of(flow, topic).replace(flow.alias.encode() + b'"', b'elsewhere"'): b'{"offset":3}',
        b"no json": b"at all",
    }
    for key, value in foreign.items():
        store(flow, key, value)

    outcome = flow.mirror_once()

    assert outcome.records == 5
    assert foreign.items() <= stored(flow).items()


def test_latest_leaves_out_what_was_there_before(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))

    with flow.running(consumer_auto_offset_reset="latest") as mirror:
        eventually(lambda: mirror.receipt(topic), lambda r: r is not None and r.source_end == 10)
        write(flow.source, topic, numbered(range(10, 13)))
        mirror.wait_for_records(3)

    found = read_all(flow.target, flow.remote(topic))[0]
    assert [r.value for r in found] == [b"value 10", b"value 11", b"value 12"]


def test_none_copies_nothing_without_a_stored_offset_and_says_so(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))

    outcome = mirror_once(flow.spark, flow.config(consumer_auto_offset_reset="none"))

    assert outcome.records == 0
    assert not outcome.good
    assert f"{topic}-0" in outcome.problems[0]
    assert "auto.offset.reset=none" in outcome.problems[0]
