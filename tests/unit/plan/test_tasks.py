from __future__ import annotations

from collections import Counter

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.model import TopicPartition
from heliograph.plan.tasks import checkpoint_tasks, heartbeat_tasks, source_tasks, task_count

CONFIG = {"name": "mm2", "topics": ".*"}


def test_partitions_go_round_robin() -> None:
    """MirrorSourceConnectorTest.testMirrorSourceConnectorTaskConfig"""
    partitions = [TopicPartition("t0", n) for n in range(8)]
    partitions += [TopicPartition(topic, n) for topic in ("t1", "t2") for n in range(2)]
    tasks = source_tasks(CONFIG, 3, partitions)
    assert [task["task.index"] for task in tasks] == ["0", "1", "2"]
    first = tasks[0]["task.assigned.partitions"]
    assert first == "t0-0,t0-3,t0-6,t1-1"
    counts = [
        Counter(each.split("-")[0] for each in t["task.assigned.partitions"].split(","))
        for t in tasks
    ]
    assert counts == [{"t0": 3, "t1": 1}, {"t0": 3, "t2": 1}, {"t0": 2, "t1": 1, "t2": 1}]
    assert all(task["topics"] == ".*" for task in tasks)
    assert tasks[0]["task.class"] == "org.apache.kafka.connect.mirror.MirrorSourceTask"


def test_groups_go_in_blocks() -> None:
    """MirrorCheckpointConnectorTest.testMirrorCheckpointConnectorEnabled"""
    tasks = checkpoint_tasks(CONFIG, 2, ["a", "b", "c"])
    assert [task["task.assigned.groups"] for task in tasks] == ["a,b", "c"]


def test_no_more_tasks_than_there_is_work_and_one_for_heartbeats() -> None:
    assert task_count(ConnectorClass.SOURCE, 4, 3) == 3
    assert task_count(ConnectorClass.CHECKPOINT, 4, 0) == 0
    assert task_count(ConnectorClass.HEARTBEAT, 4, 0) == 1
    assert source_tasks(CONFIG, 4, []) == []
    assert heartbeat_tasks(CONFIG) == [
        {**CONFIG, "task.class": "org.apache.kafka.connect.mirror.MirrorHeartbeatTask"}
    ]
