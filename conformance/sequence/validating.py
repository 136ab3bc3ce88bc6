"""Validates configurations without creating connectors (config/validate)."""

from __future__ import annotations

from conformance.sequence.names import (
    CHECKPOINT_CONFIG,
    HEARTBEAT_CLASS,
    HEARTBEAT_CONFIG,
    SOURCE_CLASS,
    SOURCE_CONFIG,
)
from conformance.step import Step, raw, send


def _validate(name: str, plugin: str, config: object) -> Step:
    return send(f"validate: {name}", "PUT", f"/connector-plugins/{plugin}/config/validate", config)


def _source(name: str, changes: dict[str, object]) -> Step:
    return _validate(name, "MirrorSourceConnector", {"name": "v", **SOURCE_CONFIG, **changes})


def _checkpoint(name: str, changes: dict[str, object]) -> Step:
    config = {"name": "v", **CHECKPOINT_CONFIG, **changes}
    return _validate(name, "MirrorCheckpointConnector", config)


def _heartbeat(name: str, changes: dict[str, object]) -> Step:
    config = {"name": "v", **HEARTBEAT_CONFIG, **changes}
    return _validate(name, "MirrorHeartbeatConnector", config)


VALIDATING = (
    _source("a good source", {}),
    _checkpoint("a good checkpoint", {}),
    _heartbeat("a good heartbeat", {}),
    _validate("full class name", SOURCE_CLASS, {"name": "v", **SOURCE_CONFIG}),
    _validate("alias", "MirrorSource", {"name": "v", **SOURCE_CONFIG}),
    _validate(
        "alias in the config", "MirrorSource", {**SOURCE_CONFIG, "connector.class": "MirrorSource"}
    ),
    _validate(
        "simple name in the config",
        "MirrorSourceConnector",
        {"name": "v", **SOURCE_CONFIG, "connector.class": "MirrorSourceConnector"},
    ),
    _validate("nothing", "MirrorSourceConnector", {}),
    _validate("no class", "MirrorSourceConnector", {"name": "v", "topics": "orders"}),
    _validate("another class", "MirrorSourceConnector", {"connector.class": HEARTBEAT_CLASS}),
    _validate("unknown plugin", "NoSuchConnector", {"connector.class": "NoSuchConnector"}),
    _validate("unknown plugin, no class", "NoSuchConnector", {"name": "v"}),
    _validate("a class that is no connector", "String", {"connector.class": "java.lang.String"}),
    _validate("only a class", "MirrorSourceConnector", {"connector.class": SOURCE_CLASS}),
    _validate("only a heartbeat's class", "MirrorHeartbeat", {"connector.class": HEARTBEAT_CLASS}),
    raw("validate: no body", "PUT", "/connector-plugins/MirrorSource/config/validate", ""),
    raw("validate: broken JSON", "PUT", "/connector-plugins/MirrorSource/config/validate", "{"),
    raw("validate: a list", "PUT", "/connector-plugins/MirrorSource/config/validate", "[]"),
    raw("validate: null", "PUT", "/connector-plugins/MirrorSource/config/validate", "null"),
    raw(
        "validate: plain text",
        "PUT",
        "/connector-plugins/MirrorSource/config/validate",
        "{}",
        "text/plain",
    ),
    _source(
        "numbers and booleans as JSON has them", {"tasks.max": 2, "refresh.topics.enabled": False}
    ),
    _source("a list as a value", {"topics": ["a", "b"]}),
    _source("an object as a value", {"topics": {"a": "b"}}),
    _source("null as a value", {"topics": None, "tasks.max": None}),
    _source("an empty name", {"name": ""}),
    _source("a name with a control character", {"name": "a\u0001b"}),
    _source("tasks.max of zero", {"tasks.max": "0"}),
    _source("tasks.max that is no number", {"tasks.max": "many"}),
    _source("tasks.max with a fraction", {"tasks.max": "1.5"}),
    _source("tasks.max past its range", {"tasks.max": "99999999999"}),
    _source("a number with blanks around it", {"tasks.max": " 2 "}),
    _source("a boolean that is none", {"refresh.topics.enabled": "yes"}),
    _source("a long that is none", {"offset.lag.max": "1k"}),
    _source("a class that is not there", {"topic.filter.class": "no.such.Filter"}),
    _source("an empty class", {"topic.filter.class": ""}),
    _source("a policy that is not there", {"replication.policy.class": "no.such.Policy"}),
    _source(
        "a policy that is there",
        {"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"},
    ),
    _source("an unknown setting", {"no.such.setting": "1", "clusters": "A,B"}),
    _source(
        "settings of clients",
        {"producer.override.linger.ms": "5", "consumer.max.poll.records": "5"},
    ),
    _source("a client setting that is wrong", {"producer.override.linger.ms": "soon"}),
    _source("offset syncs nowhere", {"offset-syncs.topic.location": "elsewhere"}),
    _source("metric names of no format", {"metric.names.formats": "modern"}),
    _source("no alias", {"source.cluster.alias": ""}),
    _source("an unknown security protocol", {"security.protocol": "TELNET"}),
    _source("a bad pattern", {"topics": "(", "topics.exclude": "["}),
    _source("errors.tolerance of its own", {"errors.tolerance": "some"}),
    _source("a reload of its own", {"config.action.reload": "panic"}),
    _source("a converter that is not there", {"value.converter": "no.such.Converter"}),
    _source("a converter that is no converter", {"value.converter": "java.lang.String"}),
    _source(
        "a header converter",
        {"header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter"},
    ),
    _source("transforms without a type", {"transforms": "t"}),
    _source("transforms of the same name", {"transforms": "t,t"}),
    _source("transforms of no known type", {"transforms": "t", "transforms.t.type": "no.such.T"}),
    _source(
        "a transformation",
        {
            "transforms": "t",
            "transforms.t.type": "org.apache.kafka.connect.transforms.HoistField$$Value",
            "transforms.t.field": "f",
        },
    ),
    _source("predicates without a type", {"predicates": "p"}),
    _source("exactly once required", {"exactly.once.support": "required"}),
    _source("exactly once in a way of its own", {"exactly.once.support": "perhaps"}),
    _source("a transaction boundary", {"transaction.boundary": "interval"}),
    _source("no such transaction boundary", {"transaction.boundary": "daily"}),
    _source("a transaction interval of zero", {"transaction.boundary.interval.ms": "0"}),
    _source("an offsets topic of its own", {"offsets.storage.topic": "own-offsets"}),
    _source("an empty offsets topic", {"offsets.storage.topic": " "}),
    _source("topic creation groups", {"topic.creation.groups": "g"}),
    _source(
        "topic creation defaults",
        {
            "topic.creation.default.replication.factor": "1",
            "topic.creation.default.partitions": "2",
        },
    ),
    _source("topic creation with zero partitions", {"topic.creation.default.partitions": "0"}),
    _source("a plugin version", {"connector.plugin.version": "4.3.1"}),
    _source("another plugin version", {"connector.plugin.version": "[9,10)"}),
    _source("no plugin version", {"connector.plugin.version": "[1,"}),
    _checkpoint("offset syncs switched off", {"emit.offset-syncs.enabled": "false"}),
    _checkpoint("no checkpoints", {"emit.checkpoints.enabled": "false"}),
    _checkpoint(
        "group offsets without checkpoints",
        {"emit.checkpoints.enabled": "false", "sync.group.offsets.enabled": "true"},
    ),
    _checkpoint(
        "a checkpoint interval that is none", {"emit.checkpoints.interval.seconds": "soon"}
    ),
    _checkpoint("a group filter that is not there", {"group.filter.class": "no.such.Filter"}),
    _heartbeat("a replication factor of zero", {"heartbeats.topic.replication.factor": "0"}),
    _heartbeat(
        "a replication factor past its range", {"heartbeats.topic.replication.factor": "40000"}
    ),
    _heartbeat("an interval that is none", {"emit.heartbeats.interval.seconds": "-"}),
)
