"""`heliograph status` of a mirror that runs, of one that has stopped, and of another program's."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heliograph.client.fetch.lag_timestamps import first_timestamps
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import MirrorConfig
from heliograph.embedded import Cluster
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.mirror_status import FlowView, GroupState, PositionFrom, ServiceState
from heliograph.inspection.status import observe_mirror
from heliograph.mm2.connect.offsets import (
    murmur2_partition,
    source_offset_key,
    source_offset_value,
)
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record
from support.clusters.grouping import client, commit, member
from support.clusters.writing import New, Writer, numbered, write
from support.commands import heliograph
from support.flows.handmade import OFFSETS_PARTITIONS, HandMade
from support.flows.mirroring import Flow, new_alias
from support.waiting import PATIENCE_SECONDS, eventually

GROUPS = {
    "sync_group_offsets_enabled": "true",
    "sync_group_offsets_interval_seconds": "1",
    "emit_checkpoints_interval_seconds": "1",
    "refresh_groups_interval_seconds": "1",
}


def look(config: MirrorConfig) -> FlowView:
    clusters = Clusters(config, client_id="test")
    try:
        (flow,) = observe_mirror(config, clusters).flows
        return flow
    finally:
        clusters.close()


def write_properties(flow: Flow, **settings: str) -> Path:
    path = flow.folder / "mm2.properties"
    properties = flow.properties(**settings)
    path.write_text("".join(f"{key} = {value}\n" for key, value in properties.items()))
    return path


def test_a_mirror_is_well_while_it_runs_and_not_when_it_has_stopped(flow: Flow) -> None:
    topic = flow.create(partitions=2)
    write(flow.source, topic, numbered(range(60)))
    group = f"{flow.alias}-billing"
    commit(flow.source, group, {(topic, 0): 40})
    settings = {"groups": f"{flow.alias}.*", **GROUPS}
    path = write_properties(flow, **settings)

    began = time.time()
    with flow.running(**settings):
        eventually(
            lambda: look(flow.config(**settings)),
            lambda found: (
                found.well
                and all(p.position_from is PositionFrom.HELIOGRAPH for p in found.partitions)
                and [g.state for g in found.groups] == [GroupState.SYNCED]
            ),
        )
        done = heliograph("status", path, "-o", "json")
        assert done.returncode == 0, done.stdout + done.stderr
        asked = time.time()
    ten_days_ago = int(began - 10 * 86_400) * 1000
    write(flow.source, topic, [New(value=b"late", timestamp=ten_days_ago)])
    stopped = heliograph("status", path)

    (found,) = json.loads(done.stdout)["flows"]
    partition, empty = found["partitions"]
    assert (partition["source_start"], partition["source_end"], partition["target_end"]) == (
        0,
        60,
        60,
    )
    assert (partition["position"], partition["lag_records"], partition["lag_seconds"]) == (
        60,
        0,
        0.0,
    )
    assert partition["state"] == empty["state"] == "RUNNING"
    assert 0 <= partition["copied_seconds_ago"] <= asked - began + 1
    (offset,) = found["groups"]
    assert (offset["source_offset"], offset["source_lag"], offset["translated"]) == (40, 20, 40)
    assert (offset["target_offset"], offset["target_lag"], offset["why"]) == (40, 20, None)

    assert stopped.returncode == 1, stopped.stdout + stopped.stderr
    lines = [line.split() for line in stopped.stdout.splitlines()]
    assert f"flow {flow.name}: NOT RUNNING (stopped" in stopped.stdout
    late = next(line for line in lines if line[:2] == [topic, "0"])
    assert late[2:7] == ["0", "61", "60", "60", "1"]
    assert late[7:9] == ["10", "d"]  # for so long the record waits


def store_offset(made: HandMade, partition: int, offset: int) -> None:
    """As MirrorMaker 2's Connect worker does."""
    key = source_offset_key("MirrorSourceConnector", made.alias, made.topic, partition)
    record = Record(timestamp=1, key=key, value=source_offset_value(offset))
    number = murmur2_partition(key, OFFSETS_PARTITIONS)
    RecordWriter(made.target_client, made.flow.offsets_topic).write({number: [record]})


def test_a_mirror_of_another_program_is_shown_by_its_offsets(made: HandMade) -> None:
    made.write(10)
    made.copy(4)
    store_offset(made, 0, 3)
    made.write(5, partition=1)

    asked = time.time()
    topics = f"{made.alias}-.*,{made.topic}s"
    found = look(made.flow.config(topics=topics, groups=f"{made.alias}.*"))
    answered = time.time()

    assert found.service.state is ServiceState.UNKNOWN
    first, second = found.partitions
    assert (first.position, first.position_from) == (4, PositionFrom.CONNECT)
    assert (first.lag_records, first.target_end, first.state) == (6, 4, "UNKNOWN")
    assert (second.position, second.position_from, second.lag_records) == (0, PositionFrom.RESET, 5)
    stamped = 1_700_000_000  # by `numbered`, and a few milliseconds
    assert first.lag_seconds is not None
    assert asked - stamped - 1 <= first.lag_seconds <= answered - stamped + 1
    assert (found.unknown, found.well) == ({}, False)
    (unmatched,) = found.not_mirrored.values()
    words = f"topics={made.topic}s matches no topic of cluster {made.alias}; near: {made.topic}"
    assert unmatched.startswith(words)
    (ungrouped,) = found.problems.values()
    assert ungrouped.startswith(f"groups={made.alias}.* matches no group of cluster {made.alias}")


def test_watching_writes_a_line_of_json_for_each_look_until_ctrl_c(made: HandMade) -> None:
    path = write_properties(made.flow)
    command = [sys.executable, "-m", "heliograph", "status", "--watch", "-o", "json"]

    with subprocess.Popen(command, cwd=path.parent, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            (flow,) = json.loads(watching.stdout.readline())["flows"]
        finally:
            watching.send_signal(signal.SIGINT)

    assert flow["name"] == made.flow.name
    assert watching.returncode == 1  # no service is known to run it


def test_every_group_that_is_not_synced_has_a_reason(made: HandMade) -> None:
    made.write(10)
    made.copy(10)
    made.sync(5, 5)
    groups = {name: made.group(name) for name in ("due", "used", "untold", "out")}
    commit(made.flow.source, groups["due"], {(made.topic, 0): 5})
    commit(made.flow.source, groups["used"], {(made.topic, 0): 5})
    commit(made.flow.source, groups["untold"], {(made.topic, 1): 0})
    commit(made.flow.source, groups["out"], {(made.topic, 0): 5})
    settings = {"groups_exclude": groups["out"], "sync_group_offsets_enabled": "true"}
    made.checkpoint_sync(**settings).emit(1)
    config = made.flow.config(groups=f"{made.alias}.*", **settings)

    with member(made.flow.target, groups["used"], made.remote):
        found = look(config)

    told = {offset.group: (offset.state, offset.why) for offset in found.groups}
    assert told == {
        groups["due"]: (GroupState.DUE, "to be committed on the target"),
        groups["used"]: (GroupState.LEFT_ALONE, "in use on the target (Stable)"),
        groups["untold"]: (GroupState.NOT_TRANSLATED, "no mirrored offsets are known"),
    }
    assert found.not_followed[groups["out"]].startswith("groups.exclude matches")


def test_the_age_of_waiting_records_is_asked_of_many_partitions_at_once(
    source_cluster: Cluster,
) -> None:
    """Batches larger than what an answer holds, a start inside a batch, aborted ones, and an empty log."""
    flow = Flow(new_alias("ages"), source_cluster, source_cluster, None, Path())  # type: ignore[arg-type]
    big, aborted = flow.create("big", 4), flow.create("aborted", 1)
    for partition in range(3):
        batch = [New(b"x" * 1000, timestamp=7_000 + n, partition=partition) for n in range(300)]
        write(source_cluster, big, batch)
    with transaction(source_cluster, aborted) as writer:
        writer.batch([New(b"no", timestamp=1_000)])
    write(source_cluster, aborted, [New(b"yes", timestamp=9_000)])
    positions = {TopicPartition(big, number): 0 for number in range(4)}
    positions[TopicPartition(big, 1)] = 150
    positions[TopicPartition(aborted, 0)] = 0

    with client(source_cluster) as cluster:
        cluster.refresh([big, aborted])
        level = IsolationLevel.READ_COMMITTED
        found = first_timestamps(cluster, positions, level, patience=PATIENCE_SECONDS)

    assert found == {
        TopicPartition(big, 0): 7_000,
        TopicPartition(big, 1): 7_000,
        TopicPartition(big, 2): 7_000,
        TopicPartition(aborted, 0): 9_000,
    }


@contextmanager
def transaction(cluster: Cluster, topic: str) -> Iterator[Writer]:
    """One that is aborted at its end."""
    writer = Writer(cluster, topic, transactional=f"{topic}-writer")
    writer.begin()
    yield writer
    writer.abort()
