"""Task configurations that MM2's connectors would report (`taskConfigs`), for Connect's REST API.

The real distribution of partitions is that of Spark's tasks, of which there are at most as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.model import TopicPartition

TaskConfig = dict[str, str]


def task_count(kind: ConnectorClass, tasks_max: int, items: int) -> int:
    """`items`: the partitions or groups of the connector."""
    return 1 if kind is ConnectorClass.HEARTBEAT else min(tasks_max, items)


def source_tasks(
    config: Mapping[str, str], tasks_max: int, partitions: Sequence[TopicPartition]
) -> list[TaskConfig]:
    """Round robin, as `MirrorSourceConnector.taskConfigs`."""
    count = task_count(ConnectorClass.SOURCE, tasks_max, len(partitions))
    return [
        _task(
            config,
            ConnectorClass.SOURCE,
            {
                "task.index": str(index),
                "task.assigned.partitions": ",".join(map(str, partitions[index::count])),
            },
        )
        for index in range(count)
    ]


def checkpoint_tasks(
    config: Mapping[str, str], tasks_max: int, groups: Sequence[str]
) -> list[TaskConfig]:
    """In blocks, as `ConnectorUtils.groupPartitions`: the first ones are larger by one."""
    count = task_count(ConnectorClass.CHECKPOINT, tasks_max, len(groups))
    return [
        _task(
            config,
            ConnectorClass.CHECKPOINT,
            {"task.index": str(index), "task.assigned.groups": ",".join(block)},
        )
        for index, block in enumerate(_blocks(groups, count))
    ]


def heartbeat_tasks(config: Mapping[str, str]) -> list[TaskConfig]:
    return [_task(config, ConnectorClass.HEARTBEAT, {})]


def _task(config: Mapping[str, str], kind: ConnectorClass, own: TaskConfig) -> TaskConfig:
    return {**config, **own, "task.class": kind.task_class}


def _blocks(items: Sequence[str], count: int) -> Iterator[Sequence[str]]:
    start = 0
    for index in range(count):
        end = start + len(items) // count + (index < len(items) % count)
        yield items[start:end]
        start = end
