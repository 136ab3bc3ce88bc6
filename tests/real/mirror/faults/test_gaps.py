"""What got lost on either side that nobody told of is noticed, said, counted, and shown."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.dry_run import plan_mirror
from heliograph.inspection.mirror_status import FlowView
from heliograph.inspection.status import observe_mirror
from heliograph.model import GapKind
from heliograph.runtime.events import EventKind
from heliograph.spark.session import LocalSpark
from support.clusters.reading import offsets, read_all, topics_of
from support.clusters.stored import key_of, store
from support.clusters.writing import (
    New,
    admin,
    create_topics,
    delete_records,
    delete_topic,
    forget_producers,
    numbered,
    write,
)
from support.flows.mirroring import Flow, Running, mirror_once, new_alias
from support.waiting import PATIENCE_SECONDS, eventually

#: Topics are never refreshed by the clock: tasks have to notice.
NEVER = {"refresh_topics_enabled": "false", "sync_topic_configs_enabled": "false"}
FAIL = {"source_log_gap_policy": "fail"}


def look(flow: Flow) -> FlowView:
    config = flow.config()
    with closing(Clusters(config, client_id="test")) as clusters:
        (found,) = observe_mirror(config, clusters).flows
        return found


def gaps_of(flow: Flow) -> dict[str, tuple[GapKind, int, int, int | None, int, int]]:
    """By topic, each of one partition: kind, first and end, where it went on, how often, offsets lost."""
    return {
        gap.topic.removeprefix(f"{flow.alias}-"): (
            *(gap.kind, gap.first, gap.end, gap.resumed),
            *(gap.gaps, gap.unmirrored),
        )
        for gap in look(flow).gaps
    }


def gap_events(mirror: Running) -> set[tuple[int, str]]:
    """When and what, of the time line."""
    events = mirror.mirror.events.since()
    return {(event.at_ms, event.message) for event in events if event.kind is EventKind.GAP}


def partition_lines(mirror: Running, *, earlier: bool) -> str:
    """Of the time line, about partitions, by earlier services or by this one."""
    events = mirror.mirror.events.since()
    kind = EventKind.PARTITION
    return "\n".join(e.message for e in events if e.earlier is earlier and e.kind is kind)


def planned(flow: Flow) -> str:
    config = flow.config()
    with closing(Clusters(config, client_id="test")) as clusters:
        (found,) = plan_mirror(config, clusters).flows
        return "\n".join(found.problems.values())


def delete(cluster: Cluster, topic: str) -> None:
    delete_topic(cluster, topic)
    eventually(lambda: topics_of(cluster), lambda names: topic not in names)


def recreate(cluster: Cluster, topic: str) -> None:
    delete(cluster, topic)
    create_topics(cluster, {topic: 1})


def values(flow: Flow, topic: str) -> list[bytes | None]:
    if flow.remote(topic) not in topics_of(flow.target):
        return []
    return [record.value for record in read_all(flow.target, flow.remote(topic))[0]]


def named(*ranges: range) -> list[bytes]:
    return [b"value %d" % number for numbers in ranges for number in numbers]


def arrive(flow: Flow, topic: str, *ranges: range) -> None:
    wanted = named(*ranges)
    eventually(lambda: values(flow, topic), lambda found: found == wanted)


def five_topics(flow: Flow) -> list[str]:
    names = ("overtaken", "recreated", "gone", "remote-gone", "remote-new")
    topics = [flow.create(name) for name in names]
    for topic in topics:
        write(flow.source, topic, numbered(range(10)))
    return topics


def test_what_changed_while_the_mirror_was_stopped_is_noticed_and_counted_once(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    overtaken, recreated, gone, remote_gone, remote_new = five_topics(flow)
    flow.mirror_once()
    write(flow.source, overtaken, numbered(range(10, 20)))
    delete_records(flow.source, overtaken, before=15)
    recreate(flow.source, recreated)
    write(flow.source, recreated, numbered(range(100, 115)))  # past the old position
    delete(flow.source, gone)
    delete(flow.target, flow.remote(remote_gone))
    recreate(flow.target, flow.remote(remote_new))
    for topic in (remote_gone, remote_new):
        write(flow.source, topic, numbered(range(10, 12)))

    plan = planned(flow)
    second = flow.mirror_once()
    third = flow.mirror_once()

    assert (second.records, third.records) == (5 + 15 + 2 + 2, 0)
    assert values(flow, overtaken) == named(range(10), range(15, 20))
    assert values(flow, recreated) == named(range(10), range(100, 115))
    assert values(flow, remote_gone) == values(flow, remote_new) == named(range(10, 12))
    assert gaps_of(flow) == {
        "overtaken": (GapKind.OVERTAKEN, 10, 15, 15, 1, 5),
        "recreated": (GapKind.SOURCE_RECREATED, 10, 10, 0, 1, 0),
        "gone": (GapKind.SOURCE_DELETED, 10, 10, None, 1, 0),
        "remote-gone": (GapKind.REMOTE_DELETED, 0, 10, 10, 1, 0),
        "remote-new": (GapKind.REMOTE_RECREATED, 0, 10, 10, 1, 0),
    }
    for said in (plan, caplog.text):
        assert f"{overtaken}-0: source offsets 10 to 14 are skipped" in said
        assert f"{recreated}-0: the source topic was deleted and created again" in said
        assert f"{remote_gone}-0: the remote topic was deleted: " in said
    assert f"{gone}-0: the source topic does not exist" in caplog.text


def test_a_running_mirror_notices_at_once_and_goes_on(flow: Flow) -> None:
    stuck, recreated = flow.create("stuck"), flow.create("recreated")
    remote_gone = flow.create("remote-gone")
    create_topics(flow.target, {flow.remote(stuck): 1}, configs={"max.message.bytes": "2000"})
    write(flow.source, stuck, numbered(range(5)), [New(value=b"x" * 5000)], numbered(range(6, 12)))
    for topic in (recreated, remote_gone):
        write(flow.source, topic, numbered(range(10)))

    with flow.running(**NEVER) as mirror:
        mirror.wait_for_records(25)
        now = partial(partition_lines, mirror, earlier=False)
        eventually(now, lambda found: f"failed: {stuck}" in found)
        delete_records(flow.source, stuck, before=8)  # where it waits, and two more
        arrive(flow, stuck, range(5), range(8, 12))
        recreate(flow.source, recreated)
        write(flow.source, recreated, numbered(range(100, 120)))
        delete(flow.target, flow.remote(remote_gone))
        write(flow.source, remote_gone, numbered(range(10, 12)))
        arrive(flow, recreated, range(10), range(100, 120))
        arrive(flow, remote_gone, range(10, 12))
        seen = eventually(lambda: gaps_of(flow), lambda found: len(found) == 3)
        eventually(lambda: look(flow).well, bool)
        told = eventually(lambda: gap_events(mirror), lambda found: len(found) == 3)
        eventually(now, lambda found: f"{stuck}-0: copied again" in found)

    assert seen == {
        "stuck": (GapKind.OVERTAKEN, 5, 8, 8, 1, 3),
        "recreated": (GapKind.SOURCE_RECREATED, 10, 10, 0, 1, 0),
        "remote-gone": (GapKind.REMOTE_DELETED, 0, 10, 10, 1, 0),
    }
    with flow.running(**NEVER) as again:  # its time line has what the service before has found
        past = partial(partition_lines, again, earlier=True)
        lines = eventually(past, lambda found: f"failed: {stuck}" in found)
        assert gap_events(again) == told
    assert f"{stuck}-0: copied again" in lines
    assert again.progress.records == 0


def test_with_the_policy_fail_a_partition_waits_for_another_offset_and_then_goes_on(
    flow: Flow,
) -> None:
    overtaken, remote_new, fine = (
        flow.create(name) for name in ("overtaken", "remote-new", "fine")
    )
    for topic in (overtaken, remote_new, fine):
        write(flow.source, topic, numbered(range(10)))
    flow.mirror_once(**FAIL)
    write(flow.source, overtaken, numbered(range(10, 20)))
    delete_records(flow.source, overtaken, before=15)
    recreate(flow.target, flow.remote(remote_new))
    write(flow.source, fine, numbered(range(10, 12)))

    once = mirror_once(flow.spark, flow.config(**FAIL))
    assert not once.good
    assert once.records == 2

    with flow.running(**FAIL, **NEVER) as mirror:
        write(flow.source, fine, numbered(range(12, 14)))
        mirror.wait_for_records(2)
        failed = eventually(
            lambda: {p.topic: p.error or "" for p in look(flow).partitions if p.failed},
            lambda found: len(found) == 2,
        )
        assert not look(flow).well
        waiting = gaps_of(flow)
        assert_waits(mirror, overtaken, remote_new)
        store(flow, key_of(flow, overtaken), b'{"offset":16}')
        store(flow, key_of(flow, remote_new), None)
        arrive(flow, overtaken, range(10), range(17, 20))
        arrive(flow, remote_new, range(10))
        eventually(lambda: look(flow).well, bool)

    assert "source offsets 10 to 14 are skipped" in failed[overtaken]
    assert "the remote topic was deleted and created again" in failed[remote_new]
    assert waiting == {
        "overtaken": (GapKind.OVERTAKEN, 10, 15, None, 1, 5),
        "remote-new": (GapKind.REMOTE_RECREATED, 0, 10, None, 1, 0),
    }
    assert flow.mirror_once(**FAIL).records == 0


def assert_waits(mirror: Running, *topics: str) -> None:
    said = "\n".join(mirror.problems())
    assert all(f"{topic}-0: " in said for topic in topics)
    assert "source.log.gap.policy=fail" in said


def test_a_log_that_was_truncated_and_has_grown_past_the_position_is_followed_from_there(
    three_brokers: Cluster, target_cluster: Cluster, spark: LocalSpark, tmp_path: Path
) -> None:
    """As after an unclean election: offsets are all there again, only the leader's epochs tell."""
    flow = Flow(new_alias("truncated"), three_brokers, target_cluster, spark, tmp_path)
    topic = flow.create(configs={"segment.ms": "5"})  # by the records' own clock: a batch a segment
    write(flow.source, topic, numbered(range(10)), numbered(range(10, 20)))
    flow.mirror_once()

    leader = (
        admin(three_brokers)
        .list_topics(topic, timeout=PATIENCE_SECONDS)
        .topics[topic]
        .partitions[0]
        .leader
    )
    three_brokers.stop_node(leader)
    folder = three_brokers.folder / f"node-{leader}" / "data" / f"{topic}-0"
    lost = list(folder.glob("*10.*"))
    for file in lost:
        file.unlink()
    forget_producers(three_brokers)
    three_brokers.start_node(leader)
    eventually(lambda: offsets(three_brokers, topic), lambda found: found == (0, 10))
    write(flow.source, topic, numbered(range(100, 130)))

    outcome = flow.mirror_once()

    assert lost
    assert outcome.records == 30
    assert values(flow, topic) == named(range(20), range(100, 130))
    assert gaps_of(flow) == {"orders": (GapKind.TRUNCATED, 10, 20, 10, 1, 0)}
