"""Records transformed on their way: by Connect's settings, or a function; both deliveries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heliograph.model import PartitionState, TopicPartition
from heliograph.sync.offsets import stored_positions
from support.clusters.grouping import client
from support.clusters.reading import read_all
from support.clusters.writing import New, Writer, create_topics, write
from support.flows.linking import linked
from support.flows.mirroring import TARGET, Flow
from support.flows.transacting import coordinator_of, lease_of, task
from support.waiting import eventually

AT_LEAST_ONCE = {f"{TARGET}.exactly.once.source.support": "disabled"}
DELIVERIES = pytest.mark.parametrize(
    "extra", [{}, AT_LEAST_ONCE], ids=["exactly once", "at least once"]
)
QUIET = {"sync_topic_configs_enabled": "false"}


def settings_of(flow: Flow, **settings: str) -> dict[str, str]:
    """Of the flow, as the file has them."""
    return {f"{flow.name}.{name.replace('__', '.')}": text for name, text in settings.items()}


def masking(flow: Flow) -> dict[str, str]:
    """Names are masked, and records with the header `drop` are dropped."""
    kafka = "org.apache.kafka.connect.transforms"
    return settings_of(
        flow,
        transforms="drop,mask",
        transforms__drop__type=f"{kafka}.Filter",
        transforms__drop__predicate="dropped",
        transforms__mask__type=f"{kafka}.MaskField$Value",
        transforms__mask__fields="name",
        transforms__mask__replacement="***",
        predicates="dropped",
        predicates__dropped__type=f"{kafka}.predicates.HasHeaderKey",
        predicates__dropped__name="drop",
    )


def person(number: int, *, dropped: bool = False, partition: int = 0) -> New:
    return New(
        value=json.dumps({"n": number, "name": f"person {number}"}).encode(),
        key=b"%d" % number,
        headers=[("drop", b"1")] if dropped else [("kept", None)],
        timestamp=1_700_000_000_000 + number,
        partition=partition,
    )


def numbers(flow: Flow, topic: str, partition: int = 0) -> list[int]:
    records = read_all(flow.target, topic).get(partition, [])
    return [json.loads(record.value or b"")["n"] for record in records]


def routing(flow: Flow, to: str) -> dict[str, str]:
    """Records with the header `drop` go to the topic `to`."""
    kafka = "org.apache.kafka.connect.transforms"
    return settings_of(
        flow,
        transforms="away",
        transforms__away__type=f"{kafka}.RegexRouter",
        transforms__away__regex=".*",
        transforms__away__replacement=to,
        transforms__away__predicate="marked",
        predicates="marked",
        predicates__marked__type=f"{kafka}.predicates.HasHeaderKey",
        predicates__marked__name="drop",
    )


@DELIVERIES
def test_records_are_masked_and_filtered_and_offsets_pass_what_was_dropped(
    flow: Flow, extra: dict[str, str]
) -> None:
    topic = flow.create(partitions=2)
    for start in range(0, 300, 100):
        batch = [person(n, dropped=n % 3 == 0) for n in range(start, start + 100)]
        write(flow.source, topic, batch)
    write(flow.source, topic, [person(n, dropped=True, partition=1) for n in range(50)])
    every = {**extra, **masking(flow)}

    outcome = flow.mirror_once(every, **QUIET)

    assert (outcome.records, outcome.unstored) == (200, ())
    found = read_all(flow.target, flow.remote(topic))
    assert found[1] == []
    assert [record.value for record in found[0]] == [
        b'{"n": %d, "name": "***"}' % n for n in range(300) if n % 3
    ]
    assert [(r.key, r.timestamp) for r in found[0][:2]] == [
        (b"1", 1_700_000_000_001),
        (b"2", 1_700_000_000_002),
    ]
    assert all(list(record.headers) == [("kept", None)] for record in found[0])

    write(flow.source, topic, [person(300), person(301)])
    assert flow.mirror_once(every, **QUIET).records == 2, "nothing is mirrored again"
    assert numbers(flow, flow.remote(topic))[-2:] == [300, 301]


def test_topics_that_records_are_routed_to_are_created_as_remote_topics_are(flow: Flow) -> None:
    topic, away = flow.create(partitions=2), f"{flow.alias}-away"
    write(flow.source, topic, [person(n, dropped=n % 2 == 0) for n in range(100)])
    write(flow.source, topic, [person(n, dropped=True, partition=1) for n in range(10)])

    with flow.running(routing(flow, away), **QUIET) as mirror:
        mirror.wait_for_records(110)
        problems = mirror.problems()

    assert numbers(flow, flow.remote(topic)) == list(range(1, 100, 2))
    assert numbers(flow, away) == list(range(0, 100, 2))
    assert numbers(flow, away, 1) == list(range(10))
    assert problems == []


def test_a_killed_task_s_successor_writes_every_routed_record_exactly_once(flow: Flow) -> None:
    """The first task is fenced in the middle of its work, as one is that its driver has lost."""
    topic, away = flow.create(), f"{flow.alias}-away"
    remote = flow.remote(topic)
    create_topics(flow.target, {remote: 1, away: 1, flow.offsets_topic: 1})
    mirror = flow.config(routing(flow, away), **QUIET)
    writer = Writer(flow.source, topic)

    def write_more(first: int) -> None:
        for start in range(first, first + 1000, 50):
            writer.batch([person(n, dropped=n % 3 == 0) for n in range(start, start + 50)])

    with task(mirror, lease_of(flow, topic, 0)) as killed:
        write_more(0)
        eventually(lambda: killed.receipt(topic).position, bool)
        write_more(1000)
        with client(flow.target, TARGET) as cluster:
            coordinator_of(mirror.flows[0], cluster).init()  # fences it, whatever it is doing
            start = stored_positions(mirror.flows[0], cluster)[TopicPartition(topic, 0)]
        with task(mirror, lease_of(flow, topic, start)) as successor:
            write_more(2000)
            eventually(lambda: successor.receipt(topic).position, lambda at: at == 3000)

    assert successor.failure is None
    assert numbers(flow, remote) == [n for n in range(3000) if n % 3]
    assert numbers(flow, away) == [n for n in range(3000) if n % 3 == 0]


BROKEN = [person(0), New(value=b"{", key=b"broken"), person(2), New(value=b"[]"), person(4)]


@pytest.mark.parametrize(
    ("policy", "mirrored", "position", "counted"),
    [
        ("fail", [0], 1, (0, 0)),
        ("skip", [0, 2, 4], 5, (0, 2)),
        ("quarantine", [0, 2, 4], 5, (2, 0)),
    ],
)
def test_a_record_that_cannot_be_transformed_follows_the_policy(
    flow: Flow, policy: str, mirrored: list[int], position: int, counted: tuple[int, int]
) -> None:
    topic, quarantine = flow.create(), f"mm2-quarantine.{flow.alias}.internal"
    create_topics(flow.target, {quarantine: 1})
    write(flow.source, topic, BROKEN)
    every = {**AT_LEAST_ONCE, **masking(flow), **settings_of(flow, on__error=policy)}

    with linked(flow, {topic: 1}, every) as link:
        receipt = eventually(
            lambda: link.receipts()[TopicPartition(topic, 0)], lambda r: r.position == position
        )
        failed = PartitionState.FAILED if policy == "fail" else PartitionState.RUNNING
        receipt = eventually(
            lambda: link.receipts()[TopicPartition(topic, 0)], lambda r: r.state is failed
        )

    assert (receipt.quarantined, receipt.skipped) == counted
    assert numbers(flow, flow.remote(topic)) == mirrored
    listed = [json.loads(record.value or b"") for record in read_all(flow.target, quarantine)[0]]
    assert [each["offset"] for each in listed] == ([1, 3] if policy == "quarantine" else [])
    if policy == "fail":
        assert "the record at source offset 1: transforms.mask: " in (receipt.error or "")


def test_a_function_leaves_out_routes_and_rewrites(
    flow: Flow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, away = flow.create(), f"{flow.alias}-away"
    create_topics(flow.target, {away: 1})
    module = f"mine_{flow.alias.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(FUNCTION.replace("AWAY", away))
    monkeypatch.syspath_prepend(str(tmp_path))
    write(flow.source, topic, [person(n) for n in range(90)])
    every = {**AT_LEAST_ONCE, **settings_of(flow, function=f"{module}:thirds")}

    with linked(flow, {topic: 1}, every) as link:
        eventually(lambda: link.receipts()[TopicPartition(topic, 0)].position, lambda at: at == 90)

    assert numbers(flow, flow.remote(topic)) == [n for n in range(90) if n % 3 == 1]
    assert [record.value for record in read_all(flow.target, away)[0]] == [b"gone"] * 30


#: Of three records one is left out, one kept, and one routed with another value.
FUNCTION = """
import pyarrow as pa
import pyarrow.compute as pc


def thirds(batch):
    kept = batch.filter(pa.array([n % 3 > 0 for n in batch.column("offset").to_pylist()]))
    away = pa.array([n % 3 == 2 for n in kept.column("offset").to_pylist()])
    columns = {name: kept.column(name) for name in kept.schema.names}
    columns["topic"] = pc.if_else(away, "AWAY", columns["topic"])
    columns["value"] = pc.if_else(away, pa.scalar(b"gone"), columns["value"])
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=kept.schema)
"""
