"""Checkpoints and group offsets are about the remote topic that is there, not about one before it."""

from __future__ import annotations

import pytest

from heliograph.errors import ConnectionLost
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.offset_map import OffsetRange
from heliograph.model import TopicPartition
from heliograph.sync.group_offsets import sync_group_offsets
from heliograph.sync.logs import MirroredLogs
from support.clusters.grouping import commit, committed
from support.clusters.reading import read_all
from support.flows.handmade import HandMade

#: The name of the syncs' topic has the other cluster's alias in it; on the source all tests share one.
SETTINGS = {"offset-syncs_topic_location": "target", "sync_group_offsets_enabled": "true"}


def written(made: HandMade) -> list[tuple[int, int]]:
    """Upstream and downstream offsets of all checkpoints, oldest first."""
    records = read_all(made.flow.target, f"{made.alias}.checkpoints.internal")[0]
    found = [read_checkpoint(r.key, r.value) for r in records]
    return [(c.upstream, c.downstream) for c in found if isinstance(c, Checkpoint)]


def test_syncs_of_mirrormaker_2_about_a_topic_before_are_not_used_after_a_restart(
    made: HandMade, caplog: pytest.LogCaptureFixture
) -> None:
    made.sync(500, 500, **SETTINGS)
    made.sync(999, 999, **SETTINGS)
    commit(made.flow.source, made.group(), {(made.topic, 0): 500})
    made.checkpoint_sync(**SETTINGS).emit(1)
    made.recreate_remote()

    restarted = made.checkpoint_sync(**SETTINGS).emit(2)
    again = made.checkpoint_sync(**SETTINGS)
    silent = again.emit(3)
    made.sync(1000, 0, **SETTINGS)  # MirrorMaker 2 goes on
    commit(made.flow.source, made.group(), {(made.topic, 0): 1000})
    again.emit(4)
    made.sync(1100, 100, **SETTINGS)
    commit(made.flow.source, made.group(), {(made.topic, 0): 1100})
    again.emit(5)

    assert written(made) == [(500, 500), (500, 0), (1100, 100)]
    assert f"{made.remote} was deleted and created again" in caplog.text
    assert "lacks records not read yet by 1 group" in restarted.problems[made.remote]
    assert (silent.checkpoints, silent.problems) == (0, {})


def test_what_a_task_tells_late_of_a_topic_before_is_not_used(made: HandMade) -> None:
    partition, old = TopicPartition(made.topic, 0), made.origin()
    commit(made.flow.source, made.group(), {partition: 500})
    sync = made.checkpoint_sync(**SETTINGS)
    sync.learn(partition, [OffsetRange(0, 0, 1000)], old)
    sync.emit(1)
    made.recreate_remote()
    sync.emit(2)
    made.sync(999, 999, origin=old, **SETTINGS)
    sync.learn(partition, [OffsetRange(0, 0, 1000)], old)
    commit(made.flow.source, made.group(), {partition: 999})

    late = sync.emit(3)
    sync.learn(partition, [OffsetRange(1000, 0, 10)], made.origin())
    commit(made.flow.source, made.group(), {partition: 1005})
    sync.emit(4)

    assert late.checkpoints == 0
    assert written(made) == [(500, 500), (500, 0), (1005, 5)]


def test_a_group_that_was_moved_into_the_new_log_by_the_old_map_goes_back(made: HandMade) -> None:
    """One that its own consumers have moved does not."""
    partition, remote = TopicPartition(made.topic, 0), TopicPartition(made.remote, 0)
    for group in ("moved", "reading"):
        commit(made.flow.source, made.group(group), {partition: 500})
    sync = made.checkpoint_sync(**SETTINGS)
    sync.learn(partition, [OffsetRange(0, 0, 1000)], made.origin())
    sync.emit(1)
    made.recreate_remote()
    made.copy(1000)
    commit(made.flow.target, made.group("moved"), {remote: 500})
    commit(made.flow.target, made.group("reading"), {remote: 40})

    sync.emit(2)

    assert committed(made.flow.target, made.group("moved"), made.remote) == [0]
    assert committed(made.flow.target, made.group("reading"), made.remote) == [40]


def test_nothing_is_committed_between_the_creation_of_a_topic_and_its_corrected_checkpoints(
    made: HandMade,
) -> None:
    partition, remote = TopicPartition(made.topic, 0), TopicPartition(made.remote, 0)
    commit(made.flow.source, made.group(), {partition: 500})
    sync = made.checkpoint_sync(**SETTINGS)
    sync.learn(partition, [OffsetRange(0, 0, 1000)], made.origin())
    sync.emit(1)
    made.recreate_remote()
    made.copy(1000)

    found = sync_group_offsets(made.target_client, sync.checkpoints(), sync.topic_ids())

    (decision,) = found.decisions
    assert (decision.partition, decision.offset) == (remote, None)
    assert "created again" in decision.reason
    assert committed(made.flow.target, made.group(), made.remote) == [-1001]


def test_a_remote_topic_that_is_gone_gets_no_checkpoint(made: HandMade) -> None:
    partition = TopicPartition(made.topic, 0)
    commit(made.flow.source, made.group(), {partition: 500})
    sync = made.checkpoint_sync(**SETTINGS)
    sync.learn(partition, [OffsetRange(0, 0, 1000)], made.origin())
    sync.emit(1)
    made.delete_remote()
    commit(made.flow.source, made.group(), {partition: 600})

    emitted = sync.emit(2)

    assert emitted.checkpoints == 0
    assert written(made) == [(500, 500)]


def test_syncs_that_were_read_are_kept_when_the_topics_cannot_be_looked_at(
    made: HandMade, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.sync(5, 5, **SETTINGS)
    commit(made.flow.source, made.group(), {(made.topic, 0): 5})
    sync = made.checkpoint_sync(**SETTINGS)

    def fails(*_: object) -> None:
        raise ConnectionLost("the target")

    with monkeypatch.context() as away:
        away.setattr(MirroredLogs, "look", fails)
        with pytest.raises(ConnectionLost):
            sync.emit(1)
    sync.emit(2)

    assert written(made) == [(5, 5)]
