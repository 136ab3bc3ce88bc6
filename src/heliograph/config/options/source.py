"""Options of topics, records and offset syncs (`MirrorSourceConfig`)."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import (
    at_least,
    no_duplicates,
    one_of,
    positive_or_never,
    python_function,
    replicas_or_broker_default,
    some_of,
    topic_name,
)
from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import BOOLEAN, CLASS, INT, LIST, LONG, SHORT, STRING

_source = partial(Option, scope=Scope.CONNECTOR)

_FILTERS = (
    _source(
        name="topics",
        type=LIST,
        default=".*",
        valid=no_duplicates,
        importance=Importance.HIGH,
        doc="Java regular expressions of the topics to mirror",
    ),
    _source(
        name="topics.exclude",
        type=LIST,
        default=r"mm2.*\.internal, .*\.replica, __.*",  # KIP-1074 narrowed the first in 4.0
        valid=no_duplicates,
        importance=Importance.HIGH,
        doc="Java regular expressions of topics to leave out; takes precedence over topics",
        since="2.7",
    ),
    _source(
        name="topics.blacklist",
        type=LIST,
        importance=Importance.HIGH,
        doc="Old name of topics.exclude; Kafka 4.0 removed it",
        renamed_to="topics.exclude",
    ),
    _source(
        name="config.properties.exclude",
        type=LIST,
        # KAFKA-20163 (4.3). log.message.… are the brokers' names of these settings, not the topics', so
        # message.timestamp.before.max.ms and .after.max.ms are copied, as in MM2.
        default="follower.replication.throttled.replicas, leader.replication.throttled.replicas, "
        "message.timestamp.difference.max.ms, log.message.timestamp.before.max.ms, "
        "log.message.timestamp.after.max.ms, message.timestamp.type, "
        "unclean.leader.election.enable, min.insync.replicas",
        valid=no_duplicates,
        importance=Importance.HIGH,
        doc="Java regular expressions of topic configurations that are not copied from the source",
        since="2.7",
    ),
    _source(
        name="config.properties.blacklist",
        type=LIST,
        importance=Importance.HIGH,
        doc="Old name of config.properties.exclude; Kafka 4.0 removed it",
        renamed_to="config.properties.exclude",
    ),
    _source(
        name="topic.filter.class",
        type=CLASS,
        default="org.apache.kafka.connect.mirror.DefaultTopicFilter",
        doc="Class that selects topics: MM2's filter, or your own as module:Class",
    ),
    _source(
        name="config.property.filter.class",
        type=CLASS,
        default="org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter",
        doc="Class that selects topic configurations to copy: MM2's filter, or your own as module:Class",
    ),
    _source(
        name="use.defaults.from",
        type=STRING,
        default="target",
        importance=Importance.MEDIUM,
        doc="The cluster whose default a topic configuration falls back to: source, or (any other value) "
        "target (KIP-894)",
        since="3.5",
        flow_only=True,
    ),
)

_INTERVALS = (
    _source(
        name="refresh.topics.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether new topics and partitions are found while the mirror runs",
    ),
    _source(
        name="refresh.topics.interval.seconds",
        type=LONG,
        default="600",
        valid=positive_or_never,
        doc="How often to look for new topics and partitions, in seconds",
    ),
    _source(
        name="sync.topic.configs.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether changed topic configurations are copied to remote topics",
    ),
    _source(
        name="sync.topic.configs.interval.seconds",
        type=LONG,
        default="600",
        valid=positive_or_never,
        doc="How often topic configurations are compared, in seconds",
    ),
    _source(
        name="sync.topic.acls.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether ACLs of topics are copied to remote topics",
    ),
    _source(
        name="sync.topic.acls.interval.seconds",
        type=LONG,
        default="600",
        valid=positive_or_never,
        doc="How often ACLs are compared, in seconds",
    ),
    _source(
        name="consumer.poll.timeout.ms",
        type=LONG,
        default="1000",
        doc="How long one poll of the source may take, in milliseconds",
        support=Support.LATER,
    ),
)

_RECORDS = (
    _source(
        name="replication.factor",
        type=INT,
        default="2",
        valid=replicas_or_broker_default,
        doc="Replication factor of topics created on the target; -1 for the broker's default",
    ),
    _source(
        name="heartbeats.replication.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether heartbeats topics are mirrored regardless of topics (KIP-1089)",
        since="4.0",
    ),
    _source(
        name="timestamps",
        type=STRING,
        default="reader",
        valid=one_of("reader", "create"),
        doc="Timestamp of records of LogAppendTime topics: reader is the append time that consumers of the "
        "source see, create is the producer's create time",
        since="heliograph",
    ),
    _source(
        name="source.log.gap.policy",
        type=STRING,
        default="continue",
        valid=one_of("continue", "fail"),
        importance=Importance.MEDIUM,
        doc="What happens to a partition when the source lost records before they were mirrored (retention, "
        "truncation, a topic created again) or its remote topic was deleted: continue mirrors the rest, as "
        "MM2 does; fail stops the partition until another offset is stored for it",
        since="heliograph",
    ),
    _source(
        name="target.log.loss.policy",
        type=STRING,
        default="recopy",
        valid=one_of("recopy", "fail"),
        importance=Importance.MEDIUM,
        doc="What happens to a partition when the target lost records that it had acknowledged (an unclean "
        "leader election, a restored backup): recopy goes back by the offset map and copies them again; "
        "fail stops the partition until another offset is stored for it",
        since="heliograph",
    ),
    _source(
        name="metric.names.formats",
        type=LIST,
        default="legacy",
        valid=some_of("legacy", "new"),
        doc="Formats of the names of MM2's metrics (KIP-1280)",
        since="4.3",
        support=Support.LATER,
    ),
)

_LIMITS = (
    _source(
        name="oversize.record.policy",
        type=STRING,
        default="fail",
        valid=one_of("fail", "quarantine"),
        doc="What happens to a record that is larger than max.message.bytes of the remote topic: fail stops "
        "its partition until the target accepts it; quarantine writes the record's topic, partition and "
        "offset to the quarantine topic and mirrors the rest",
        since="heliograph",
    ),
    _source(
        name="function",
        type=STRING,
        valid=python_function,
        doc="A Python function, module:function, that gets a pyarrow.RecordBatch of records after transforms "
        "and returns the one to mirror; it must be installed where executors run",
        since="heliograph",
    ),
    _source(
        name="on.error",
        type=STRING,
        default="fail",
        valid=one_of("fail", "quarantine", "skip"),
        doc="What happens to a record that fails in transforms or function: fail stops its partition before "
        "it; quarantine writes its coordinates to the quarantine topic; skip leaves it out and counts it",
        since="heliograph",
    ),
    _source(
        name="quarantine.topic",
        type=STRING,
        valid=topic_name,
        doc="Topic on the target that lists records left out; mm2-quarantine.<source>.internal if not set",
        since="heliograph",
    ),
    _source(
        name="quarantine.topic.replication.factor",
        type=SHORT,
        default="3",
        valid=replicas_or_broker_default,
        doc="Replication factor of the quarantine topic; -1 for the broker's default",
        since="heliograph",
    ),
    _source(
        name="throttle.bytes.per.second",
        type=LONG,
        default="0",
        valid=at_least(0),
        doc="Most bytes of records per second that all tasks of the flow together read from the source, "
        "compressed as on the wire; 0 for no limit",
        since="heliograph",
    ),
)

_OFFSET_SYNCS = (
    _source(
        name="emit.offset-syncs.enabled",
        type=BOOLEAN,
        default="true",
        doc="Whether offset syncs are written; without them there are no checkpoints (KIP-1031)",
        since="3.9",
    ),
    _source(
        name="offset-syncs.topic.location",
        type=STRING,
        default="source",
        valid=one_of("source", "target"),
        doc="The cluster that holds the offset-syncs topic (KIP-716)",
        since="3.0",
    ),
    _source(
        name="offset-syncs.topic.replication.factor",
        type=SHORT,
        default="3",
        valid=replicas_or_broker_default,
        doc="Replication factor of the offset-syncs topic",
    ),
    _source(
        name="offset.lag.max",
        type=LONG,
        default="100",
        doc="Most records of a partition between two offset syncs; 0 for a sync at every record",
    ),
)

SOURCE = (*_FILTERS, *_INTERVALS, *_RECORDS, *_LIMITS, *_OFFSET_SYNCS)
