"""Options of groups, checkpoints and group offsets (`MirrorCheckpointConfig`)."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import (
    no_duplicates,
    one_of,
    positive_or_never,
    replicas_or_broker_default,
)
from heliograph.config.options.option import Importance, Option, Scope
from heliograph.config.options.values import BOOLEAN, CLASS, LIST, LONG, SHORT, STRING

_checkpoint = partial(Option, scope=Scope.CONNECTOR)

CHECKPOINT = (
    _checkpoint(
        name="groups",
        type=LIST,
        default=".*",
        valid=no_duplicates,
        importance=Importance.HIGH,
        doc="Java regular expressions of the consumer groups whose offsets are translated",
    ),
    _checkpoint(
        name="groups.exclude",
        type=LIST,
        default="console-consumer-.*, connect-.*, __.*",
        valid=no_duplicates,
        importance=Importance.HIGH,
        doc="Java regular expressions of groups to leave out; takes precedence over groups",
        since="2.7",
    ),
    _checkpoint(
        name="groups.blacklist",
        type=LIST,
        importance=Importance.HIGH,
        doc="Old name of groups.exclude; Kafka 4.0 removed it",
        renamed_to="groups.exclude",
    ),
    _checkpoint(
        name="group.filter.class",
        type=CLASS,
        default="org.apache.kafka.connect.mirror.DefaultGroupFilter",
        doc="Class that selects groups: MM2's filter, or your own as module:Class",
    ),
    _checkpoint(
        name="refresh.groups.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether new groups are found while the mirror runs",
    ),
    _checkpoint(
        name="refresh.groups.interval.seconds",
        type=LONG,
        default="600",
        valid=positive_or_never,
        doc="How often to look for new groups, in seconds",
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
        doc="How often group offsets are translated, in seconds",
    ),
    _checkpoint(
        name="checkpoints.topic.replication.factor",
        type=SHORT,
        default="3",
        valid=replicas_or_broker_default,
        doc="Replication factor of the checkpoints topic",
    ),
    _checkpoint(
        name="sync.group.offsets.enabled",
        type=BOOLEAN,
        default="false",
        doc="Whether translated offsets are committed for the same groups on the target (KIP-545)",
        since="2.7",
    ),
    _checkpoint(
        name="sync.group.offsets.interval.seconds",
        type=LONG,
        default="60",
        valid=positive_or_never,
        doc="How often translated offsets are committed, in seconds",
        since="2.7",
    ),
    _checkpoint(
        name="offset.translation",
        type=STRING,
        default="exact",
        valid=one_of("exact", "syncs"),
        doc="How committed offsets are translated: exact uses the offset map of every copied batch, "
        "syncs uses offset syncs, as MM2 does",
        since="heliograph",
    ),
)
