"""Checkpoints of real groups, read back with an independent client."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.client.admin.groups import commit_offsets
from heliograph.client.net.connection import Connection
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.offset_map import OffsetRange
from heliograph.mm2.state_records import segments_of, state_topic
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.records.decode import Record
from heliograph.sync import checkpoint_log
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error
from support.clusters.grouping import commit, member
from support.clusters.reading import read_all
from support.clusters.writing import New, admin, create_topics, write
from support.flows.handmade import HandMade
from support.waiting import PATIENCE_SECONDS, eventually

#: The name of the syncs' topic has the other cluster's alias in it; on the source all tests share one.
ON_TARGET = {"offset-syncs_topic_location": "target"}


def written(made: HandMade) -> list[Checkpoint]:
    """All records of the checkpoints topic, oldest first."""
    records = read_all(made.flow.target, f"{made.alias}.checkpoints.internal")
    assert records.keys() == {0}
    found = [read_checkpoint(r.key, r.value) for r in records[0]]
    return [c for c in found if isinstance(c, Checkpoint)]


def delete_topic(made: HandMade, topic: str) -> None:
    client = admin(made.flow.target)
    client.delete_topics([topic])[topic].result(PATIENCE_SECONDS)
    eventually(
        lambda: topic in made.target_client.refresh([topic]).partitions, lambda there: not there
    )


def test_a_group_is_translated_by_syncs_and_its_checkpoint_carries_mm2s_bytes(
    made: HandMade,
) -> None:
    made.sync(50, 40)
    offset = {TopicPartition(made.topic, 0): CommittedOffset(60, "noted")}
    assert commit_offsets(made.source_client, {made.group(): offset}) == {}
    sync = made.checkpoint_sync()

    emitted = sync.emit(1_700_000_000_000)

    assert (emitted.checkpoints, emitted.groups, emitted.problems) == (1, 1, {})
    (record,) = read_all(made.flow.target, f"{made.alias}.checkpoints.internal")[0]
    expected = Checkpoint(made.group(), made.remote, 0, 60, 41, "noted")
    assert (record.key, record.value) == (expected.key(), expected.value())
    assert record.timestamp == 1_700_000_000_000
    assert sync.checkpoints() == {made.group(): {TopicPartition(made.remote, 0): expected}}


def test_connects_offset_record_is_written_once_for_each_group_and_partition(
    made: HandMade,
) -> None:
    made.sync(5, 5)
    made.sync(5, 5, partition=1)
    sync = made.checkpoint_sync()
    for offset in (6, 7):
        made.sync(offset, offset)
        commit(made.flow.source, made.group(), {(made.topic, 0): offset, (made.topic, 1): 5})
        sync.emit(1)
    made.checkpoint_sync().emit(2)

    stored = read_all(made.flow.target, made.flow.offsets_topic)
    found = sorted((r.key, r.value) for records in stored.values() for r in records)
    assert found == [
        (
            f'["MirrorCheckpointConnector",{{"partition":{number},"topic":"{made.remote}",'
            f'"group":"{made.group()}"}}]'.encode(),
            b'{"offset":0}',
        )
        for number in (0, 1)
    ]


def test_only_what_is_new_is_written(made: HandMade) -> None:
    made.sync(5, 5)
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})
    sync = made.checkpoint_sync()

    counts = [sync.emit(1).checkpoints, sync.emit(2).checkpoints]
    made.sync(9, 9)  # of no help to this group
    counts.append(sync.emit(3).checkpoints)
    commit(made.flow.source, made.group(), {(made.topic, 0): 9})
    counts.append(sync.emit(4).checkpoints)
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})  # it goes back, and so does this
    counts.append(sync.emit(5).checkpoints)

    assert counts == [1, 0, 0, 1, 1]
    assert [(c.upstream, c.downstream) for c in written(made)] == [(5, 5), (9, 9), (5, 5)]


def test_a_sync_that_comes_later_improves_a_group_that_stands_still(made: HandMade) -> None:
    made.sync(5, 5)
    commit(made.flow.source, made.group(), {(made.topic, 0): 9})
    sync = made.checkpoint_sync()
    sync.emit(1)
    made.sync(9, 9)
    sync.emit(2)

    assert [c.downstream for c in written(made)] == [6, 9]


def test_what_was_learnt_of_the_copy_translates_exactly(made: HandMade) -> None:
    partition = TopicPartition(made.topic, 0)
    commit(made.flow.source, made.group("behind"), {partition: 15})
    commit(made.flow.source, made.group("ahead"), {partition: 25})
    sync = made.checkpoint_sync()
    sync.learn(partition, [OffsetRange(10, 0, 10)])
    sync.emit(1)
    sync.learn(partition, [OffsetRange(20, 10, 10)])
    sync.emit(2)

    found = [(c.group, c.downstream) for c in written(made)]
    assert sorted(found[:2]) == [(made.group("ahead"), 10), (made.group("behind"), 5)]
    assert found[2:] == [(made.group("ahead"), 15)]


def test_what_was_learnt_before_a_restart_is_read_from_the_state_topic(made: HandMade) -> None:
    partition = TopicPartition(made.topic, 0)
    topic = state_topic(made.alias)
    create_topics(made.flow.target, {topic: 1}, configs={"cleanup.policy": "compact"})
    segments = segments_of(partition, [OffsetRange(0, 0, 10), OffsetRange(12, 10, 10)])
    records = [
        Record(timestamp=1, key=segment.key(), value=segment.value()) for segment in segments
    ]
    RecordWriter(made.target_client, topic).write({0: records})
    commit(made.flow.source, made.group(), {partition: 15})
    commit(made.flow.source, made.group("further"), {partition: 25})
    sync = made.checkpoint_sync()
    sync.learn(partition, [OffsetRange(22, 20, 10)])  # a task has told before the topic was read

    emitted = sync.emit(1)

    assert emitted.malformed == 0
    assert {c.group: c.downstream for c in written(made)} == {
        made.group(): 13,
        made.group("further"): 23,
    }


def test_syncs_on_the_target_are_followed_there(made: HandMade) -> None:
    made.sync(5, 7, **ON_TARGET)
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})

    made.checkpoint_sync(**ON_TARGET).emit(1)

    assert [c.downstream for c in written(made)] == [7]


def test_checkpoints_of_before_hold_after_a_restart_and_strange_records_are_counted(
    made: HandMade,
) -> None:
    """CheckpointStoreTest.testReadCheckpointsTopic,
    MirrorCheckpointTaskTest.testCheckpointsTaskRestartUsesExistingCheckpoints"""
    made.sync(200, 200)
    commit(made.flow.source, made.group(), {(made.topic, 0): 250})
    made.checkpoint_sync().emit(1)
    topic = f"{made.alias}.checkpoints.internal"
    future = Checkpoint("g", "t", 0, 1, 1)
    write(
        made.flow.target,
        topic,
        [New(b"no", b"no"), New(b"\x00\x01" + future.value()[2:], future.key())],
    )
    restarted = made.checkpoint_sync()
    restarted.learn(TopicPartition(made.topic, 0), [OffsetRange(0, 0, 150)])
    emitted = restarted.emit(2)

    assert emitted.malformed == 2
    assert emitted.checkpoints == 0
    assert [c.downstream for c in written(made)] == [201]


def test_without_the_checkpoints_of_before_no_older_sync_is_trusted(
    made: HandMade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CheckpointStoreTest.testReadCheckpointsTopicError (KAFKA-15905)"""
    made.sync(5, 5)
    made.sync(100, 100)
    commit(made.flow.source, made.group("behind"), {(made.topic, 0): 50})
    commit(made.flow.source, made.group("ahead"), {(made.topic, 0): 150})

    def refused(*_: object) -> None:
        raise broker_error(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "the checkpoints topic")

    monkeypatch.setattr(checkpoint_log, "read_compacted", refused)
    emitted = made.checkpoint_sync().emit(1)

    (problem,) = emitted.problems.values()
    assert "continuing without the earlier checkpoints" in problem
    assert {c.group: c.downstream for c in written(made)} == {made.group("ahead"): 101}


def test_groups_are_passed_over_for_a_reason(made: HandMade) -> None:
    """MirrorCheckpointConnectorTest.testFindConsumerGroups"""
    create_topics(made.flow.source, {f"other-{made.alias}": 1})
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})
    commit(made.flow.source, made.group("elsewhere"), {(f"other-{made.alias}", 0): 5})
    commit(made.flow.source, f"x{made.alias}", {(made.topic, 0): 5})
    with member(made.flow.source, made.group("new"), made.topic):
        found = made.checkpoint_sync().refresh_groups()

    assert found.followed == {made.group()}
    assert "topics.exclude" in found.passed_over[made.group("elsewhere")]
    assert "groups does not match" in found.passed_over[f"x{made.alias}"]
    assert found.passed_over[made.group("new")] == "has no committed offsets"


def test_a_partition_of_which_nothing_is_mirrored_has_no_checkpoint(made: HandMade) -> None:
    """MirrorConnectorsIntegrationBaseTest.testNoCheckpointsIfNoRecordsAreMirrored"""
    commit(made.flow.source, made.group(), {(made.topic, 0): 0})
    sync = made.checkpoint_sync()
    made.sync(3, 3, partition=1)

    emitted = sync.emit(1)

    assert emitted.checkpoints == 0
    assert emitted.untranslated == {
        made.group(): {TopicPartition(made.topic, 0): "no mirrored offsets are known"}
    }


def test_a_topic_of_syncs_that_is_not_there_is_a_problem_until_it_comes(made: HandMade) -> None:
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})
    sync = made.checkpoint_sync(**ON_TARGET)

    assert sync.emit(1).problems == {}  # it may be about to be made
    (problem,) = sync.emit(2).problems.values()
    made.sync(5, 5, **ON_TARGET)
    after = sync.emit(3)

    assert "does not exist" in problem
    assert (after.problems, after.checkpoints) == ({}, 1)


def test_syncs_of_a_topic_that_was_created_again_replace_the_old_ones(made: HandMade) -> None:
    made.sync(50, 50, **ON_TARGET)
    commit(made.flow.source, made.group(), {(made.topic, 0): 10})
    sync = made.checkpoint_sync(**ON_TARGET)
    assert sync.emit(1).checkpoints == 0
    delete_topic(made, f"mm2-offset-syncs.{made.alias}.internal")
    made.sync(5, 5, **ON_TARGET)

    sync.emit(2)

    assert [c.downstream for c in written(made)] == [6]


def test_a_checkpoint_past_the_end_of_a_target_that_was_created_again_gives_way(
    made: HandMade,
) -> None:
    partition = TopicPartition(made.topic, 0)
    made.copy(20)
    commit(made.flow.source, made.group(), {partition: 20})
    sync = made.checkpoint_sync()
    sync.learn(partition, [OffsetRange(0, 0, 20)], made.origin())
    sync.emit(1)
    made.recreate_remote()
    made.copy(3)
    sync.learn(partition, [OffsetRange(20, 0, 3)], made.origin())
    commit(made.flow.source, made.group(), {partition: 22})
    sync.emit(2)

    assert [(c.upstream, c.downstream) for c in written(made)] == [(20, 20), (22, 2)]


def test_a_checkpoints_topic_that_cannot_be_made_is_a_problem_that_names_the_option(
    made: HandMade,
) -> None:
    sync = made.checkpoint_sync(checkpoints_topic_replication_factor="5")

    emitted = sync.emit(1)

    (problem,) = emitted.problems.values()
    assert emitted.checkpoints == 0
    assert "checkpoints.topic.replication.factor (now 5)" in problem


def test_a_cycle_takes_as_many_requests_for_many_groups_as_for_one(
    made: HandMade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KIP-709. How long it takes: the cycles of `make bench`."""
    made.sync(5, 5)
    key = TopicPartition(made.topic, 0)
    groups = {made.group(f"g{number}"): {key: CommittedOffset(5)} for number in range(500)}
    assert commit_offsets(made.source_client, groups) == {}
    sync = made.checkpoint_sync()
    assert sync.emit(1).checkpoints == 500

    asked: list[str] = []
    encode = Connection._encoded

    def encoded(connection: Connection, request: Any, on_answer: Any) -> Any:
        asked.append(request.name)
        return encode(connection, request, on_answer)

    monkeypatch.setattr(Connection, "_encoded", encoded)
    assert sync.emit(2).checkpoints == 0
    assert asked.count("OffsetFetchRequest") == 1
    assert len(asked) < 10, asked
