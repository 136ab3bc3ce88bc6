"""What all three connectors of a flow have (`ConnectorConfig`, `MirrorConnectorConfig`)."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import (
    BOOLEAN,
    BYTE_ARRAY_CONVERTER,
    CLASS,
    INT,
    LIST,
    LONG,
    STRING,
    at_least,
    byte_array_converter,
    one_of,
    topic_characters,
)

_connector = partial(Option, scope=Scope.CONNECTOR)
_later = partial(_connector, support=Support.LATER)
_refused = partial(_connector, support=Support.REFUSED)

_MIRROR = (
    _connector(
        name="enabled",
        type=BOOLEAN,
        default="false",  # of dedicated mode; true in the ConfigDef of the connectors
        doc="Whether the flow mirrors records",
    ),
    _connector(
        name="tasks.max",
        type=INT,
        default="1",
        valid=at_least(1),
        importance=Importance.HIGH,
        doc="At most so many tasks copy the flow",
    ),
    _connector(
        name="name",
        type=STRING,
        default="",
        importance=Importance.HIGH,
        doc="Name in the keys of stored offsets; the connector's class if not set",
    ),
    _connector(
        name="replication.policy.class",
        type=CLASS,
        default="org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
        doc="How remote topics are named: DefaultReplicationPolicy, IdentityReplicationPolicy, "
        "RenameReplicationPolicy (Heliograph), or your own as module:Class",
    ),
    _connector(
        name="replication.policy.separator",
        type=STRING,
        default=".",
        valid=topic_characters,
        doc="What stands between source alias and topic in a remote topic's name",
    ),
    _connector(
        name="replication.policy.internal.topic.separator.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether the separator holds for internal topics, too (KIP-949)",
        since="3.6",
    ),
    _connector(
        name="replication.policy.topic.map",
        type=STRING,
        default="",
        doc="Under RenameReplicationPolicy: orders:sales.orders, refunds:sales.refunds",
        since="heliograph",
    ),
    _connector(
        name="replication.policy.topic.rename",
        type=STRING,
        default="",
        doc=r"Under RenameReplicationPolicy: (.*)-prod => $1-dr ; eu\.(.*) => $1",
        since="heliograph",
    ),
    _connector(
        name="cycle.detection",
        type=STRING,
        default="4.3",
        valid=one_of("4.3", "4.4"),
        doc="Which Kafka's rule tells that a topic has come round: 4.4 also refuses a topic whose name "
        "starts with the alias of its own source (KAFKA-9914)",
        since="heliograph",
    ),
    _connector(
        name="same.cluster.id.policy",
        type=STRING,
        default="refuse",
        valid=one_of("refuse", "accept"),
        importance=Importance.MEDIUM,
        doc="What to do when source and target have the same cluster id: they are one cluster, or one was "
        "cloned from a snapshot of the other. refuse: no checkpoints and no group offsets, and topics that "
        "would go round in a circle within one cluster are not mirrored, heartbeats among them. accept: "
        "they are two clusters",
        since="heliograph",
    ),
    _refused(
        name="source.cluster.alias",
        type=STRING,
        importance=Importance.HIGH,
        doc="Alias of the source; the one in clusters",
    ),
    _refused(
        name="target.cluster.alias",
        type=STRING,
        importance=Importance.HIGH,
        doc="Alias of the target; the one in clusters",
    ),
    _later(
        name="admin.timeout.ms",
        type=LONG,
        default="60000",
        doc="How long administrative work may take",
    ),
    _later(
        name="forwarding.admin.class",
        type=CLASS,
        default="org.apache.kafka.clients.admin.ForwardingAdmin",
        doc="The admin client that makes topics, settings and ACLs (KIP-787)",
        since="3.4",
    ),
    _later(
        name="metric.reporters",
        type=LIST,
        default="org.apache.kafka.common.metrics.JmxReporter",
        doc="Classes that metrics are reported to",
    ),
)

_CONNECT = (
    _later(
        name="connector.class",
        type=CLASS,
        importance=Importance.HIGH,
        doc="Class of the connector; each of MM2's three has its own",
    ),
    _later(
        name="connector.plugin.version",
        type=STRING,
        doc="Version of the connector's class (KIP-891)",
        since="4.1",
    ),
    _later(
        name="tasks.max.enforce",
        type=BOOLEAN,
        default="true",
        doc="Whether more tasks than tasks.max are an error (KIP-1004)",
        since="3.8",
    ),
    *(
        _connector(
            name=name,
            type=CLASS,
            default=BYTE_ARRAY_CONVERTER,
            valid=byte_array_converter,
            doc="Only this: records are copied as they are",
        )
        for name in ("key.converter", "value.converter", "header.converter")
    ),
    *(
        _later(
            name=f"{name}.plugin.version",
            type=STRING,
            doc="Version of the converter's class (KIP-891)",
            since="4.1",
        )
        for name in ("key.converter", "value.converter", "header.converter")
    ),
    _refused(name="transforms", type=LIST, default="", doc="Transformations of records"),
    _refused(name="predicates", type=LIST, default="", doc="Conditions of transforms"),
    _later(
        name="config.action.reload",
        type=STRING,
        default="restart",
        valid=one_of("restart", "none"),
        doc="What happens when a config provider's value changes",
    ),
    _later(
        name="errors.retry.timeout",
        type=LONG,
        default="0",
        importance=Importance.MEDIUM,
        doc="How long a failed operation is retried, in milliseconds",
    ),
    _later(
        name="errors.retry.delay.max.ms",
        type=LONG,
        default="60000",
        importance=Importance.MEDIUM,
        doc="At most so long between two tries",
    ),
    _later(
        name="errors.tolerance",
        type=STRING,
        default="none",
        valid=one_of("none", "all"),
        importance=Importance.MEDIUM,
        doc="Whether records that cannot be converted are skipped",
    ),
    _later(
        name="errors.log.enable",
        type=BOOLEAN,
        default="false",
        importance=Importance.MEDIUM,
        doc="Whether each error is logged",
    ),
    _later(
        name="errors.log.include.messages",
        type=BOOLEAN,
        default="false",
        importance=Importance.MEDIUM,
        doc="Whether the record is logged with its error",
    ),
    _later(name="topic.creation.groups", type=LIST, default="", doc="Groups of new topics"),
    _connector(
        name="exactly.once.support",
        type=STRING,
        default="requested",
        valid=one_of("requested", "required"),
        importance=Importance.MEDIUM,
        doc="Whether the flow must run exactly once (KIP-618), or else be refused",
        since="3.3",
    ),
    _connector(
        name="transaction.boundary",
        type=STRING,
        default="poll",
        valid=one_of("poll", "interval", "connector"),
        importance=Importance.MEDIUM,
        doc="What goes into one transaction (KIP-618): poll commits as soon as it pays, interval every so "
        "often; connector is as poll",
        since="3.3",
    ),
    _connector(
        name="transaction.boundary.interval.ms",
        type=LONG,
        valid=at_least(1),
        doc="How long a transaction lasts under boundary interval; offset.flush.interval.ms if not set",
        since="3.3",
    ),
    _later(
        name="offsets.storage.topic",
        type=STRING,
        valid=topic_characters,
        doc="A second topic of stored offsets, for this connector alone",
        since="3.3",
    ),
)

CONNECTOR = (*_MIRROR, *_CONNECT)
