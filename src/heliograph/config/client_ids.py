"""Builds the `client.id` of each client of a flow, which brokers log and quotas refer to.

    [<user's client.id>|]<source>-><target>|<connector name>[-<task>][|<role>]

Mirrors `MirrorConnectorConfig.addClientId` and `entityLabel` of connectors and tasks.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class ClientRole(StrEnum):
    REPLICATION_SOURCE_ADMIN = "replication-source-admin"
    REPLICATION_TARGET_ADMIN = "replication-target-admin"
    REPLICATION_CONSUMER = "replication-consumer"
    OFFSET_SYNCS_SOURCE_PRODUCER = "offset-syncs-source-producer"
    OFFSET_SYNCS_TARGET_PRODUCER = "offset-syncs-target-producer"
    OFFSET_SYNCS_SOURCE_ADMIN = "offset-syncs-source-admin"
    OFFSET_SYNCS_TARGET_ADMIN = "offset-syncs-target-admin"
    OFFSET_SYNCS_SOURCE_CONSUMER = "offset-syncs-source-consumer"
    OFFSET_SYNCS_TARGET_CONSUMER = "offset-syncs-target-consumer"
    CHECKPOINT_SOURCE_ADMIN = "checkpoint-source-admin"
    CHECKPOINT_TARGET_ADMIN = "checkpoint-target-admin"
    CHECKPOINTS_TARGET_CONSUMER = "checkpoints-target-consumer"
    HEARTBEATS_TARGET_ADMIN = "heartbeats-target-admin"


def client_id(
    source: str,
    target: str,
    connector: str,
    *,
    task: int | Literal["?"] | None = None,
    role: str | None = None,
    user: str | None = None,
) -> str:
    """`task` is a task's index, ? for a task without an index, None for the connector itself; `user` is
    the client.id in that client's settings."""
    label = f"{source}->{target}|{connector}"
    if task is not None:
        label += f"-{task}"
    return "|".join(part for part in (user, label, role) if part is not None)
