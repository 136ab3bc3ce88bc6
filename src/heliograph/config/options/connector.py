"""Options that all three connectors of a flow share (`ConnectorConfig`, `MirrorConnectorConfig`)."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import (
    at_least,
    byte_array_converter,
    connector_name,
    header_converter,
    no_duplicates,
    one_of,
    one_of_ignoring_case,
    topic_characters,
    topic_name,
    unique_aliases,
)
from heliograph.config.options.option import Importance, InConnector, Option, Scope, Support
from heliograph.config.options.values import (
    BOOLEAN,
    BYTE_ARRAY_CONVERTER,
    CLASS,
    INT,
    LIST,
    LONG,
    STRING,
)

_connector = partial(Option, scope=Scope.CONNECTOR)
_later = partial(_connector, support=Support.LATER)
_refused = partial(_connector, support=Support.REFUSED)

_MIRROR = (
    _connector(
        name="enabled",
        type=BOOLEAN,
        default="false",  # of MM2's dedicated mode
        doc="Whether the flow mirrors records",
        in_connector=InConnector(default="true"),
    ),
    _connector(
        name="tasks.max",
        type=INT,
        default="1",
        valid=at_least(1),
        importance=Importance.HIGH,
        doc="Most tasks that copy the flow",
    ),
    _connector(
        name="name",
        type=STRING,
        default="",
        valid=connector_name,
        importance=Importance.HIGH,
        doc="Name of the connector in the keys of stored offsets; the connector's class if not set",
        in_connector=InConnector(required=True),
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
        doc="Text between source alias and topic in a remote topic's name",
    ),
    _connector(
        name="replication.policy.internal.topic.separator.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether internal topics use the separator as well (KIP-949)",
        since="3.6",
    ),
    _connector(
        name="replication.policy.topic.map",
        type=STRING,
        default="",
        doc="Remote names of single topics, with RenameReplicationPolicy: orders:sales.orders, "
        "refunds:sales.refunds",
        since="heliograph",
    ),
    _connector(
        name="replication.policy.topic.rename",
        type=STRING,
        default="",
        doc="Rules for remote names by regular expression, with RenameReplicationPolicy: "
        r"(.*)-prod => $1-dr ; eu\.(.*) => $1",
        since="heliograph",
    ),
    _connector(
        name="cycle.detection",
        type=STRING,
        default="4.3",
        valid=one_of("4.3", "4.4"),
        doc="The Kafka version whose rule detects replication cycles: 4.4 also refuses a topic whose name "
        "starts with the alias of its own source (KAFKA-9914)",
        since="heliograph",
    ),
    _connector(
        name="same.cluster.id.policy",
        type=STRING,
        default="refuse",
        valid=one_of("refuse", "accept"),
        importance=Importance.MEDIUM,
        doc="What to do when source and target have the same cluster id, because they are one cluster or one "
        "was cloned from a snapshot of the other. refuse: write no checkpoints and no group offsets, and do "
        "not mirror topics (heartbeats included) that would form a cycle within one cluster. accept: treat "
        "them as two clusters",
        since="heliograph",
    ),
    _refused(
        name="source.cluster.alias",
        type=STRING,
        importance=Importance.HIGH,
        doc="Alias of the source; in a file, the one in clusters",
        in_connector=InConnector(required=True),
    ),
    _refused(
        name="target.cluster.alias",
        type=STRING,
        importance=Importance.HIGH,
        doc="Alias of the target; in a file, the one in clusters",
        in_connector=InConnector(default="target"),
    ),
    _later(
        name="admin.timeout.ms",
        type=LONG,
        default="60000",
        doc="How long administrative requests may take, in milliseconds",
    ),
    _later(
        name="forwarding.admin.class",
        type=CLASS,
        default="org.apache.kafka.clients.admin.ForwardingAdmin",
        doc="Java class of the admin client that creates topics, configurations and ACLs (KIP-787)",
        since="3.4",
    ),
    _later(
        name="metric.reporters",
        type=LIST,
        default="org.apache.kafka.common.metrics.JmxReporter",
        valid=no_duplicates,
        doc="Java classes that report metrics",
    ),
)

_CONNECT = (
    _later(
        name="connector.class",
        type=STRING,
        importance=Importance.HIGH,
        doc="Class of the connector: one of MM2's three",
        in_connector=InConnector(required=True),
    ),
    _later(
        name="connector.plugin.version",
        type=STRING,
        importance=Importance.MEDIUM,
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
            valid=header_converter if name == "header.converter" else byte_array_converter,
            doc="ByteArrayConverter only, since records are copied as they are"
            + ("; SimpleHeaderConverter has no effect" if name == "header.converter" else ""),
            in_connector=InConnector(default=None),
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
    _connector(
        name="transforms",
        type=LIST,
        default="",
        valid=unique_aliases,
        doc="Transformations of records, by aliases of your choice, in this order; transforms.<alias>.type "
        "is one of Kafka's classes, and its settings follow the same prefix (docs/transforms.md)",
    ),
    _connector(
        name="predicates",
        type=LIST,
        default="",
        valid=unique_aliases,
        doc="Conditions that transformations name as transforms.<alias>.predicate; predicates.<alias>.type "
        "is one of Kafka's classes",
    ),
    _later(
        name="config.action.reload",
        type=STRING,
        default="restart",
        valid=one_of("none", "restart"),
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
        doc="Longest wait between two retries, in milliseconds",
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
    _later(
        name="topic.creation.groups",
        type=LIST,
        default="",
        doc="Names of groups of topics that share creation settings",
    ),
    _connector(
        name="exactly.once.support",
        type=STRING,
        default="requested",
        valid=one_of_ignoring_case("REQUIRED", "REQUESTED", expected="requested or required"),
        importance=Importance.MEDIUM,
        doc="required: the flow is refused unless it can run exactly once (KIP-618)",
        since="3.3",
    ),
    _connector(
        name="transaction.boundary",
        type=STRING,
        default="poll",
        valid=one_of_ignoring_case(
            "INTERVAL", "POLL", "CONNECTOR", expected="poll or interval or connector"
        ),
        importance=Importance.MEDIUM,
        doc="When transactions are committed (KIP-618): poll as soon as a commit is worth its cost, interval "
        "every transaction.boundary.interval.ms; connector has the effect of poll",
        since="3.3",
    ),
    _connector(
        name="transaction.boundary.interval.ms",
        type=LONG,
        valid=at_least(1).in_files_only,
        doc="How long a transaction lasts with transaction.boundary = interval, in milliseconds; "
        "offset.flush.interval.ms if not set",
        since="3.3",
    ),
    _later(
        name="offsets.storage.topic",
        type=STRING,
        valid=topic_name,
        doc="Topic of stored offsets for this connector alone",
        since="3.3",
    ),
)

CONNECTOR = (*_MIRROR, *_CONNECT)
