"""Connect's transactional ids (`Worker.taskTransactionalId`, `DistributedConfig.transactionalProducerId`)."""

from __future__ import annotations

import re


def task_transactional_id(group_id: str, connector: str, task: int) -> str:
    return f"{group_id}-{connector}-{task}"


def task_transactional_ids(group_id: str, connector: str) -> re.Pattern[str]:
    """Matches the ids of all tasks that a connector may ever have had."""
    return re.compile(re.escape(f"{group_id}-{connector}-") + "[0-9]+")


def leader_transactional_id(group_id: str) -> str:
    """The id of the leader of the workers' group: a new leader fences the old one."""
    return f"connect-cluster-{group_id}"
