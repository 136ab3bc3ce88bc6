"""Turns a connector into the engine's ConnectorSpec, and its observed work into MM2's task configurations."""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.connectors.read_connectors import Connector
from heliograph.plan.tasks import TaskConfig, checkpoint_tasks, heartbeat_tasks, source_tasks
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part
from heliograph.runtime.connectors.running_connector import RunningConnector


def job_of(connector: Connector, generation: int) -> ConnectorSpec | None:
    """None: its configuration leaves it nothing to do."""
    settings = connector.flow or connector.heartbeats
    if settings is None or connector.kind is None or not connector.enabled:
        return None
    return ConnectorSpec(
        name=connector.name,
        part=Part(connector.kind.value),
        settings=settings,
        clusters=connector.clusters,
        generation=generation,
    )


def tasks_of(
    config: Mapping[str, str], connector: RunningConnector, tasks_max: int
) -> list[TaskConfig] | None:
    """MM2's tasks for the partitions or groups observed so far; None before the first observation."""
    if connector.flow is not None:
        partitions = connector.flow.partitions()
        return None if partitions is None else source_tasks(config, tasks_max, sorted(partitions))
    if connector.groups is not None:
        groups = connector.groups.groups
        return None if groups is None else checkpoint_tasks(config, tasks_max, sorted(groups))
    return heartbeat_tasks(config)


def tasks_max_of(connector: Connector) -> int:
    return 1 if connector.flow is None else connector.flow.tasks_max
