"""Records that the target does not take, under `oversize.record.policy = quarantine`."""

from __future__ import annotations

import json
from random import Random

import pytest

from heliograph.model import PartitionState, TopicPartition
from support.clusters.reading import offsets, read_all
from support.clusters.writing import New, create_topics, delete_topic, numbered, write
from support.flows.linking import linked
from support.flows.mirroring import TARGET, Flow
from support.waiting import eventually

QUARANTINE = {
    "oversize_record_policy": "quarantine",
    "quarantine_topic_replication_factor": "1",
    "sync_topic_configs_enabled": "false",
}


def large(key: bytes | None, timestamp: int = 1_700_000_000_000) -> New:
    """No codec makes it smaller."""
    return New(value=Random(1).randbytes(5000), key=key, timestamp=timestamp)


def write_some_too_large(flow: Flow, *, codec: str = "none") -> str:
    """Alone in a batch, among others, several in a row, at the end of the log; nine of 31 records."""
    topic = flow.create(partitions=2)
    create_topics(flow.target, {flow.remote(topic): 2}, configs={"max.message.bytes": "2000"})
    write(
        flow.source,
        topic,
        numbered(range(10)),
        [*numbered(range(10, 12)), large(b"among"), *numbered(range(12, 15))],
        [large(b"alone", 1_700_000_000_123)],
        numbered(range(15, 20)),
        [large(None), large(b"\xff\xfe"), large(b"k" * 1100)],
        [large(b"row")],
        [*numbered([20]), large(b"a"), *numbered([21]), large(b"b")],
        [large(b"end")],
        codec=codec,
    )
    write(flow.source, topic, numbered(range(5), partition=1))
    return topic


EXACTLY_ONCE = {f"{TARGET}.exactly.once.source.support": "enabled"}


@pytest.mark.parametrize("extra", [{}, EXACTLY_ONCE], ids=["default", "exactly once"])
def test_records_too_large_are_named_in_quarantine_and_the_rest_is_mirrored(
    flow: Flow, extra: dict[str, str]
) -> None:
    topic = write_some_too_large(flow)
    settings = QUARANTINE | {"consumer_isolation_level": "read_committed"}

    outcome = flow.mirror_once(extra, **settings)

    assert (outcome.records, outcome.quarantined, outcome.unstored) == (27, 9, ())
    found = read_all(flow.target, flow.remote(topic))
    assert [record.value for record in found[0]] == [b"value %d" % n for n in range(22)]
    assert len(found[1]) == 5
    (named,) = read_all(flow.target, f"mm2-quarantine.{flow.alias}.internal").values()
    wanted = [12, 16, 22, 23, 24, 25, 27, 29, 30]
    assert [json.loads(record.key or b"") for record in named] == [[topic, 0, n] for n in wanted]
    told = [json.loads(record.value or b"") for record in named]
    assert told[1] == {
        "flow": flow.name,
        "topic": topic,
        "partition": 0,
        "offset": 16,
        "timestamp": 1_700_000_000_123,
        "target_topic": flow.remote(topic),
        "size": told[1]["size"],
        "limit": 2000,
        "key": "alone",
        "reason": f"needs a batch of {told[1]['size']} bytes, the target's max.message.bytes is 2000",
    }
    assert told[1]["size"] > 5000
    assert told[2]["key"] is None
    assert told[3]["key_base64"] == "//4="
    assert told[4]["key_size"] == 1100
    assert flow.mirror_once(extra, **settings).records == 0, "what was left out is passed for good"


def test_a_flow_that_runs_says_how_much_it_left_out(flow: Flow) -> None:
    topic = write_some_too_large(flow, codec="lz4")

    with flow.running(**QUARANTINE) as mirror:
        mirror.wait_for_records(27)
        problems = eventually(
            mirror.problems, lambda found: any("9 records not mirrored" in p for p in found)
        )
        write(flow.source, topic, numbered(range(22, 25)))
        eventually(lambda: offsets(flow.target, flow.remote(topic)), lambda o: o == (0, 25))

    assert any(f"mm2-quarantine.{flow.alias}.internal on b" in problem for problem in problems)


def test_a_partition_waits_for_a_quarantine_topic_that_is_not_there(flow: Flow) -> None:
    topic, name = write_some_too_large(flow), f"mm2-quarantine.{flow.alias}.internal"

    with linked(flow, {topic: 2}, **QUARANTINE) as link:
        eventually(
            lambda: link.receipts()[TopicPartition(topic, 0)],
            lambda r: (
                r.state is PartitionState.RETRYING
                and r.position == 12
                and "quarantine" in (r.error or "")
            ),
        )
        eventually(lambda: link.receipts()[TopicPartition(topic, 1)].position, lambda p: p == 5)
        create_topics(flow.target, {name: 1})
        eventually(lambda: link.receipts()[TopicPartition(topic, 0)].position, lambda p: p == 31)

    assert len(read_all(flow.target, name)[0]) == 9
    delete_topic(flow.target, name)
