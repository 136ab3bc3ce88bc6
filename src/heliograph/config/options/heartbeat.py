"""Options of heartbeats (`MirrorHeartbeatConfig`), which are written even if the pair's flow is disabled."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import positive_or_never, replicas_or_broker_default
from heliograph.config.options.option import Option, Scope
from heliograph.config.options.values import BOOLEAN, LONG, SHORT

_heartbeat = partial(Option, scope=Scope.CONNECTOR)

HEARTBEAT = (
    _heartbeat(
        name="emit.heartbeats.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether heartbeats are written",
    ),
    _heartbeat(
        name="emit.heartbeats.interval.seconds",
        type=LONG,
        default="1",
        valid=positive_or_never,
        doc="How often a heartbeat is written, in seconds",
    ),
    _heartbeat(
        name="heartbeats.topic.replication.factor",
        type=SHORT,
        default="3",
        valid=replicas_or_broker_default,
        doc="Replication factor of the heartbeats topic",
    ),
)
