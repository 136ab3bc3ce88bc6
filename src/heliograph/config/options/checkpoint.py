"""Groups, checkpoints and group offsets (`MirrorCheckpointConfig`)."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.option import Importance, Option, Scope
from heliograph.config.options.values import (
    BOOLEAN,
    CLASS,
    LIST,
    LONG,
    SHORT,
    STRING,
    one_of,
    positive_or_broker_default,
    positive_or_never,
)

_checkpoint = partial(Option, scope=Scope.CONNECTOR)

CHECKPOINT = (
    _checkpoint(
        name="groups",
        type=LIST,
        default=".*",
        importance=Importance.HIGH,
        doc="Java regular expressions of the groups to follow",
    ),
    _checkpoint(
        name="groups.exclude",
        type=LIST,
        default="console-consumer-.*, connect-.*, __.*",
        importance=Importance.HIGH,
        doc="Java regular expressions of groups to leave out; wins over groups",
        since="2.7",
    ),
    _checkpoint(
        name="groups.blacklist",
        type=LIST,
        importance=Importance.HIGH,
        doc="Old name of groups.exclude, which Kafka 4.0 dropped",
        renamed_to="groups.exclude",
    ),
    _checkpoint(
        name="group.filter.class",
        type=CLASS,
        default="org.apache.kafka.connect.mirror.DefaultGroupFilter",
        doc="Which groups are followed: MM2's filter, or your own as module:Class",
    ),
    _checkpoint(
        name="refresh.groups.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether to look for new groups",
    ),
    _checkpoint(
        name="refresh.groups.interval.seconds",
        type=LONG,
        default="600",
        valid=positive_or_never,
        doc="How often to look for new groups",
    ),
    _checkpoint(
        name="emit.checkpoints.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether checkpoints are written",
    ),
    _checkpoint(
        name="emit.checkpoints.interval.seconds",
        type=LONG,
        default="60",
        valid=positive_or_never,
        doc="How often group offsets are translated",
    ),
    _checkpoint(
        name="checkpoints.topic.replication.factor",
        type=SHORT,
        default="3",
        valid=positive_or_broker_default,
        doc="Replication factor of the checkpoints topic",
    ),
    _checkpoint(
        name="sync.group.offsets.enabled",
        type=BOOLEAN,
        default="false",
        doc="Whether translated offsets are committed for groups of the target (KIP-545)",
        since="2.7",
    ),
    _checkpoint(
        name="sync.group.offsets.interval.seconds",
        type=LONG,
        default="60",
        valid=positive_or_never,
        doc="How often translated offsets are committed",
        since="2.7",
    ),
    _checkpoint(
        name="offset.translation",
        type=STRING,
        default="exact",
        valid=one_of("exact", "syncs"),
        doc="How committed offsets are translated: exact, by what raw copying knows, or syncs, as "
        "MM2 does",
        since="heliograph",
    ),
)
