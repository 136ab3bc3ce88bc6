from __future__ import annotations

from dataclasses import replace

from heliograph.cli.output.status_text import status_blocks
from heliograph.cli.output.tables import plain
from heliograph.inspection.mirror_status import (
    FlowView,
    GroupPartition,
    GroupState,
    MirrorStatus,
    PartitionView,
    PositionFrom,
    Service,
    ServiceState,
)

PARTITION = PartitionView(
    topic="orders",
    partition=0,
    remote_topic="a.orders",
    source_start=0,
    source_end=100,
    target_end=88,
    position=90,
    position_from=PositionFrom.HELIOGRAPH,
    lag_records=10,
    lag_seconds=2.5,
    copied_seconds_ago=0.5,
    state="RUNNING",
    error=None,
)
GROUP = GroupPartition(
    group="billing",
    topic="orders",
    partition=0,
    remote_topic="a.orders",
    source_offset=60,
    source_lag=40,
    checkpointed=60,
    translated=50,
    target_offset=None,
    target_lag=None,
    state=GroupState.DUE,
    why="to be committed on the target",
)
FLOW = FlowView(
    name="a->b",
    source="a",
    target="b",
    service=Service(state=ServiceState.RUNNING, detail="seen 1.0 s ago", seen_seconds_ago=1.0),
    partitions=(PARTITION,),
    groups=(GROUP,),
    not_followed={"connect-x": "groups.exclude matches: connect-.*"},
    problems={"flow a->b: x": "x: not mirrored"},
)


def status(*flows: FlowView, unreachable: dict[str, str] | None = None) -> MirrorStatus:
    return MirrorStatus(at_ms=0, flows=flows, unreachable=unreachable or {})


def lines(shown: MirrorStatus, *, everything: bool = False) -> list[str]:
    text = plain(status_blocks(shown, everything=everything))
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_partition_and_a_group_have_a_line_each() -> None:
    said = lines(status(FLOW))

    assert "flow a->b: RUNNING (seen 1.0 s ago)" in said
    assert "orders 0 0 100 88 90 10 2.5 s 0.5 s RUNNING -" in said
    assert "billing orders 0 60 40 50 ? ? DUE to be committed on the target" in said
    assert "1 groups.exclude matches: connect-.* connect-x" in said
    assert "PROBLEM: x: not mirrored" in said


def test_thousands_of_partitions_are_summed_up_by_topic_the_troubled_first() -> None:
    many = tuple(
        replace(PARTITION, topic=f"t{n % 100:02}", partition=n // 100) for n in range(5_000)
    )
    broken = replace(PARTITION, topic="t99", partition=49, state="FAILED", error="disk full")
    flow = replace(FLOW, partitions=(*many[:-1], broken))

    said = lines(status(flow))

    header = said.index("TOPIC PARTITIONS LAG LAG TIME LAST COPY STATES ERROR")
    assert said[header + 1] == "t99 50 500 2.5 s 0.5 s 49 RUNNING, 1 FAILED 49: disk full"
    assert "flow a->b: RUNNING (seen 1.0 s ago), 1 partition FAILED" in said
    assert len(said) < 100
    assert len(lines(status(flow), everything=True)) > 5_000


def test_a_problem_names_its_flow_and_its_subject_once() -> None:
    found = {
        "flow a->b: state: b.x-0": "b.x-0: another program also writes to it",
        "flow a->b: ACLs": "not authorized",
        "metrics": "port 9404 is in use",
    }

    said = lines(status(replace(FLOW, problems=found)))

    assert [line for line in said if line.startswith("PROBLEM")] == [
        "PROBLEM: state: b.x-0: another program also writes to it",
        "PROBLEM: ACLs: not authorized",
        "PROBLEM: metrics: port 9404 is in use",
    ]


def test_many_offsets_are_summed_up_by_group() -> None:
    groups = tuple(replace(GROUP, group=f"g{n % 3}", partition=n) for n in range(99))

    said = lines(status(replace(FLOW, groups=groups)))

    assert "g0 33 1320 ? 33 DUE to be committed on the target" in said


def test_only_what_is_known_to_be_well_is_well() -> None:
    unknown = Service(
        state=ServiceState.UNKNOWN, detail="no Heliograph state", seen_seconds_ago=None
    )
    failed = replace(PARTITION, state="FAILED")

    assert status(FLOW).well
    assert not status(FLOW, unreachable={"a": "no"}).well
    assert not status(FLOW, replace(FLOW, service=unknown)).well
    assert not status(replace(FLOW, partitions=(failed,))).well
    for state in ("WAITING", "RETRYING", "UNKNOWN"):
        assert not status(replace(FLOW, partitions=(PARTITION, replace(failed, state=state)))).well
    assert status(replace(FLOW, partitions=(replace(PARTITION, state="DONE"),))).well
    assert not status(replace(FLOW, not_mirrored={"topics=x": "topics=x matches no topic"})).well
    assert not status(replace(FLOW, unknown={"groups": "not authorized"})).well
    assert "flow a->b: unknown (no Heliograph state)" in lines(
        status(replace(FLOW, service=unknown))
    )


def test_topics_that_are_not_mirrored_are_said_once() -> None:
    why = "topics=x matches no topic of cluster a"
    observed = replace(FLOW, problems={}, not_mirrored={"topics=x": why})

    assert f"PROBLEM: {why}" in lines(status(observed))
    both = lines(status(replace(observed, problems={"flow a->b: topics=x": why})))
    assert [line for line in both if why in line] == [f"PROBLEM: {why}"]


def test_lag_from_stored_offsets_is_marked_as_such() -> None:
    unknown = Service(state=ServiceState.UNKNOWN, detail="", seen_seconds_ago=None)
    stored = replace(PARTITION, position_from=PositionFrom.CONNECT)

    said = lines(status(replace(FLOW, service=unknown, partitions=(stored,))))

    assert any("lag is counted from stored offsets" in line for line in said)
    assert not any("stored offsets" in line for line in lines(status(FLOW)))


def test_a_mirror_without_flows_is_shown_as_such() -> None:
    assert lines(status()) == ["no flow is enabled; no records are mirrored"]


def test_a_throttled_flow_is_shown_as_such() -> None:
    said = lines(status(replace(FLOW, partitions=(PARTITION, replace(PARTITION, throttled=True)))))

    assert "flow a->b: RUNNING (seen 1.0 s ago), throttled (throttle.bytes.per.second)" in said
