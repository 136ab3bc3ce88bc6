"""Lists the rights that a flow needs: on which cluster, as which client, on what, and for what.

The tables of docs/security.md say the same, summed up over the kinds of client; a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from heliograph.config.mirror_config import FlowConfig, Heartbeats, InternalTopic
from heliograph.mm2.connect.transactional_ids import (
    leader_transactional_id,
    task_transactional_id,
)
from heliograph.model import ClientKind, SyncsLocation
from heliograph.plan.internal_topics import offsets_of, state_of
from heliograph.wire.acls import AclOperation

_READ, _WRITE, _CREATE = AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE
_DESCRIBE, _ALTER = AclOperation.DESCRIBE, AclOperation.ALTER
_CONFIGS, _SET_CONFIGS = AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS
_CONSUMER, _PRODUCER, _ADMIN = ClientKind.CONSUMER, ClientKind.PRODUCER, ClientKind.ADMIN


class Resource(StrEnum):
    TOPIC = "Topic"
    GROUP = "Group"
    TRANSACTIONAL_ID = "TransactionalId"
    CLUSTER = "Cluster"


class Names(StrEnum):
    """Names that only a look at the clusters can tell."""

    TOPICS = "the mirrored topics"
    REMOTE_TOPICS = "the remote topics"
    GROUPS = "the followed groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`operations` on `name` of cluster `alias`, by clients of the kind `client`. `topic`: how an internal
    topic is created. `without`: what happens without the right, if the flow runs all the same; `setting`:
    what switches off the part that needs it."""

    alias: str
    client: ClientKind
    resource: Resource
    name: str | Names
    operations: tuple[AclOperation, ...]
    purpose: str
    topic: InternalTopic | None = None
    without: str = ""
    setting: str = ""


def needs_of_flow(flow: FlowConfig) -> tuple[Need, ...]:
    return (
        *_topics(flow),
        *_remote_topics(flow),
        *_storage(flow),
        *_syncs(flow),
        *_groups(flow),
        *_acls(flow),
        *_transactions(flow),
    )


def needs_of_group_flow(flow: FlowConfig) -> tuple[Need, ...]:
    """Of a checkpoint connector, which follows groups and copies no records."""
    return (*_syncs(flow, copies=False), *_groups(flow))


def needs_of_heartbeats(pair: Heartbeats) -> tuple[Need, ...]:
    return (
        _internal(pair.topic, pair.target, (_CREATE, _WRITE), "heartbeats"),
        _internal(pair.offsets_topic, pair.offsets_alias, (_CREATE, _WRITE), "stored offsets"),
    )


def needs_of_worker(topics: tuple[InternalTopic, ...], alias: str, group: str) -> tuple[Need, ...]:
    """Of a Connect worker on its own cluster, before it has any connector."""
    stored = (_CREATE, _WRITE, _READ)
    return (
        *(_internal(topic, alias, stored, "the worker's storage") for topic in topics),
        _group(alias, group, _READ, "the group of the workers"),
    )


def _topics(flow: FlowConfig) -> Iterator[Need]:
    topics = Names.TOPICS
    yield _topic(flow.source, _CONSUMER, topics, (_READ,), "records")
    yield _topic(flow.source, _ADMIN, topics, (_CONFIGS,), "configurations for the remote topics")


def _remote_topics(flow: FlowConfig) -> Iterator[Need]:
    alias, remote = flow.target, Names.REMOTE_TOPICS
    yield _topic(
        *(alias, _PRODUCER, remote, (_WRITE, _READ, _CONFIGS)),
        "records; the end of the log, to resume without duplicates",
    )
    yield _topic(alias, _ADMIN, remote, (_CREATE, _DESCRIBE), "new topics")
    if flow.refresh_interval_seconds is not None:
        yield _topic(
            *(alias, _ADMIN, remote, (_ALTER,), "new partitions"),
            without="partitions that are added on the source stay uncopied until they are added here",
        )
    if flow.config_sync.interval_seconds is not None:
        yield _topic(
            *(alias, _ADMIN, remote, (_CONFIGS, _SET_CONFIGS), "configurations"),
            setting="sync.topic.configs.enabled=false",
        )


def _storage(flow: FlowConfig) -> Iterator[Need]:
    for placed, purpose in (
        (offsets_of(flow), "stored offsets, as in Connect"),
        (state_of(flow), "Heliograph's state"),
    ):
        yield _internal(placed.topic, placed.alias, (_CREATE, _READ, _WRITE), purpose)
        yield _topic(
            *(placed.alias, _PRODUCER, placed.topic.name, (_WRITE, _READ)), f"{purpose}, by tasks"
        )
    for topic in (flow.config_topic, flow.status_topic):
        if topic is not None:
            yield _internal(topic, flow.target, (_CREATE, _DESCRIBE), "as in MM2")
    if flow.quarantine is not None:
        yield _internal(flow.quarantine, flow.target, (_CREATE,), "records that are too large")
        yield _topic(
            *(flow.target, _PRODUCER, flow.quarantine.name, (_WRITE,)), "records that are too large"
        )


def _syncs(flow: FlowConfig, *, copies: bool = True) -> Iterator[Need]:
    syncs = flow.offset_syncs
    if syncs is None:
        return
    alias = flow.source if syncs.location is SyncsLocation.SOURCE else flow.target
    operations = (_CREATE, _READ) if copies else (_READ,)
    yield _internal(syncs.topic, alias, operations, "offset syncs")
    if copies:
        yield _topic(alias, _PRODUCER, syncs.topic.name, (_WRITE,), "offset syncs")


def _groups(flow: FlowConfig) -> Iterator[Need]:
    yield _group(
        *(flow.offsets_alias, flow.group_id, _READ, "one service at a time"),
        without="the flow runs, and a second service with the same flow cannot be detected",
    )
    checkpoints = flow.checkpoints
    if checkpoints is None:
        return
    operations = (_CREATE, _WRITE, _READ)
    yield _internal(checkpoints.topic, flow.target, operations, "checkpoints")
    yield _group(
        *(flow.source, Names.GROUPS, _DESCRIBE, "their committed offsets"),
        setting="emit.checkpoints.enabled=false",
    )
    if checkpoints.sync_interval_seconds is not None:
        yield _group(
            *(flow.target, Names.GROUPS, _READ, "translated offsets"),
            setting="sync.group.offsets.enabled=false",
        )


def _acls(flow: FlowConfig) -> Iterator[Need]:
    if flow.acl_sync_interval_seconds is None:
        return
    setting = "sync.topic.acls.enabled=false"
    for alias, operations, purpose in (
        (flow.source, (_DESCRIBE,), "to list ACLs"),
        (flow.target, (_DESCRIBE, _ALTER), "to list and create ACLs"),
    ):
        yield Need(
            alias=alias,
            client=_ADMIN,
            resource=Resource.CLUSTER,
            name="kafka-cluster",
            operations=operations,
            purpose=purpose,
            setting=setting,
        )


def _transactions(flow: FlowConfig) -> Iterator[Need]:
    if flow.exactly_once is None:
        return
    for client, name, purpose in (
        (_ADMIN, leader_transactional_id(flow.group_id), "fencing of an earlier leader"),
        (
            _PRODUCER,
            task_transactional_id(flow.group_id, flow.connector_name, 0),
            "a transaction for each task",
        ),
    ):
        yield Need(
            alias=flow.target,
            client=client,
            resource=Resource.TRANSACTIONAL_ID,
            name=name,
            operations=(_WRITE,),
            purpose=purpose,
            setting="exactly.once.source.support=disabled",
        )


def _topic(
    alias: str,
    client: ClientKind,
    name: str | Names,
    operations: tuple[AclOperation, ...],
    purpose: str,
    *,
    without: str = "",
    setting: str = "",
) -> Need:
    return Need(
        alias=alias,
        client=client,
        resource=Resource.TOPIC,
        name=name,
        operations=operations,
        purpose=purpose,
        without=without,
        setting=setting,
    )


def _internal(
    topic: InternalTopic, alias: str, operations: tuple[AclOperation, ...], purpose: str
) -> Need:
    return Need(
        alias=alias,
        client=_ADMIN,
        resource=Resource.TOPIC,
        name=topic.name,
        operations=operations,
        purpose=purpose,
        topic=topic,
    )


def _group(
    alias: str,
    name: str | Names,
    operation: AclOperation,
    purpose: str,
    *,
    without: str = "",
    setting: str = "",
) -> Need:
    return Need(
        alias=alias,
        client=_ADMIN,
        resource=Resource.GROUP,
        name=name,
        operations=(operation,),
        purpose=purpose,
        without=without,
        setting=setting,
    )
