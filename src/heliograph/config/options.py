"""The option table: every setting that may stand in a mirror's configuration, declared once.

`Scope` says where a setting may stand, `Support` what this version does with it. To support an
option that is LATER or REFUSED, change its line and read it where the others are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from heliograph.config.values import (
    BOOLEAN,
    CLASS,
    INT,
    LIST,
    LONG,
    SHORT,
    STRING,
    OptionType,
    Validator,
    Value,
    at_least,
    one_of,
    positive_or_broker_default,
    topic_characters,
)


class Scope(StrEnum):
    """For a flow A->B. `x` alone is the top level of the file."""

    TOP = "top"  #             x
    CONNECTOR = "connector"  # A->B.x, x
    CLIENT = "client"  #       A.x, x                       how to reach a cluster
    CONSUMER = "consumer"  #   A.consumer.x, A->B.consumer.x, A->B.source.consumer.x
    PRODUCER = "producer"  #   B.producer.x
    ADMIN = "admin"  #         A.admin.x, B.admin.x
    WORKER = "worker"  #       B.x, and x for WORKER_TOP_LEVEL_PREFIXES


class Support(StrEnum):
    ACTED = "acted"
    LATER = "later"  #     known, without effect yet; a warning says so
    REFUSED = "refused"  # without it, records would go astray or a connection fail: an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`default` is written as a user would write it; None means there is none."""

    name: str
    type: OptionType
    scope: Scope
    doc: str
    default: str | None = None
    valid: Validator | None = None
    since: str = "2.4"
    support: Support = Support.ACTED

    def parse(self, text: str) -> Value:
        """Raises InvalidValue."""
        value = self.type.parse(text)
        if self.valid is not None:
            self.valid(value)
        return value


# MirrorMakerConfig.workerConfig takes these from the top level, over what B.x says.
WORKER_TOP_LEVEL_PREFIXES = (
    "offset.storage",
    "config.storage",
    "status.storage",
    "key.converter",
    "value.converter",
    "header.converter",
    "task",
    "worker",
    "replication.policy",
)

_MIRROR = "org.apache.kafka.connect.mirror"


def _connector(
    name: str,
    type: OptionType,
    default: str | None,
    doc: str,
    *,
    valid: Validator | None = None,
    since: str = "2.4",
    support: Support = Support.ACTED,
) -> Option:
    return Option(
        name=name,
        type=type,
        scope=Scope.CONNECTOR,
        default=default,
        doc=doc,
        valid=valid,
        since=since,
        support=support,
    )


def _later(names: str, type: OptionType, scope: Scope, doc: str) -> tuple[Option, ...]:
    return tuple(
        Option(name=name, type=type, scope=scope, doc=doc, support=Support.LATER)
        for name in names.split()
    )


_TOP = (
    Option(
        name="clusters",
        type=LIST,
        scope=Scope.TOP,
        doc="Aliases of the clusters, separated by commas",
    ),
    Option(
        name="epoch.seconds",
        type=INT,
        scope=Scope.TOP,
        default="3600",
        valid=at_least(1),
        doc="How long an epoch lasts when nothing changes (Heliograph)",
        since="heliograph",
    ),
    Option(
        name="once.timeout.seconds",
        type=INT,
        scope=Scope.TOP,
        default="60",
        valid=at_least(1),
        doc="How long --once waits for a cluster that does not answer (Heliograph)",
        since="heliograph",
    ),
    Option(
        name="config.providers",
        type=LIST,
        scope=Scope.TOP,
        doc="Names of config providers",
        support=Support.REFUSED,
    ),
    *_later(
        "dedicated.mode.enable.internal.rest",
        BOOLEAN,
        Scope.TOP,
        "Whether workers talk to each other by REST (KIP-710)",
    ),
    *_later(
        "listeners rest.advertised.host.name rest.advertised.port rest.advertised.listener "
        "access.control.allow.origin access.control.allow.methods response.http.headers.config",
        STRING,
        Scope.TOP,
        "The internal REST server",
    ),
)

_FLOW = (
    _connector("enabled", BOOLEAN, "false", "Whether the flow mirrors records"),
    _connector("topics", LIST, ".*", "Java regular expressions of the topics to mirror"),
    _connector(
        "topics.exclude",
        LIST,
        r"mm2.*\.internal, .*\.replica, __.*",
        "Java regular expressions of topics to leave out; wins over topics",
        since="2.7",
    ),
    _connector(
        "replication.factor",
        INT,
        "2",
        "Replication factor of topics created on the target; -1 for the broker's default",
        valid=positive_or_broker_default,
    ),
    _connector("tasks.max", INT, "1", "At most so many tasks copy the flow", valid=at_least(1)),
    _connector("refresh.topics.enabled", BOOLEAN, "true", "Whether to look for new topics"),
    _connector(
        "refresh.topics.interval.seconds",
        LONG,
        "600",
        "How often to look for new topics and partitions",
        valid=at_least(1),
    ),
    _connector(
        "replication.policy.separator",
        STRING,
        ".",
        "What stands between source alias and topic in a remote topic's name",
        valid=topic_characters,
    ),
    _connector(
        "replication.policy.internal.topic.separator.enabled",
        BOOLEAN,
        "true",
        "Whether the separator holds for internal topics, too (KIP-949)",
        since="3.6",
    ),
    _connector(
        "heartbeats.replication.enabled",
        BOOLEAN,
        "true",
        "Whether heartbeats topics are mirrored whatever topics says (KIP-1089)",
        since="4.0",
    ),
    _connector("name", STRING, "MirrorSourceConnector", "Name in the keys of stored offsets"),
    _connector(
        "timestamps",
        STRING,
        "reader",
        "Timestamp of records of LogAppendTime topics: the one that a reader of the source sees, "
        "or the original create time (Heliograph)",
        valid=one_of("reader", "create"),
        since="heliograph",
    ),
    _connector(
        "replication.policy.class",
        CLASS,
        f"{_MIRROR}.DefaultReplicationPolicy",
        "How remote topics are named",
        support=Support.REFUSED,
    ),
    _connector(
        "topic.filter.class",
        CLASS,
        f"{_MIRROR}.DefaultTopicFilter",
        "Which topics are mirrored",
        support=Support.REFUSED,
    ),
    _connector("transforms", LIST, "", "Transformations of records", support=Support.REFUSED),
    _connector("predicates", LIST, "", "Conditions of transforms", support=Support.REFUSED),
    *_later(
        "sync.topic.configs.enabled sync.topic.acls.enabled emit.offset-syncs.enabled "
        "emit.checkpoints.enabled emit.heartbeats.enabled refresh.groups.enabled "
        "sync.group.offsets.enabled tasks.max.enforce errors.log.enable "
        "errors.log.include.messages",
        BOOLEAN,
        Scope.CONNECTOR,
        "A part of MM2 around the data",
    ),
    *_later(
        "sync.topic.configs.interval.seconds sync.topic.acls.interval.seconds offset.lag.max "
        "emit.checkpoints.interval.seconds emit.heartbeats.interval.seconds "
        "refresh.groups.interval.seconds sync.group.offsets.interval.seconds "
        "consumer.poll.timeout.ms admin.timeout.ms errors.retry.timeout "
        "errors.retry.delay.max.ms transaction.boundary.interval.ms",
        LONG,
        Scope.CONNECTOR,
        "Time or distance of a part of MM2 around the data",
    ),
    *_later(
        "offset-syncs.topic.replication.factor checkpoints.topic.replication.factor "
        "heartbeats.topic.replication.factor",
        SHORT,
        Scope.CONNECTOR,
        "Replication factor of an internal topic",
    ),
    *_later(
        "groups groups.exclude config.properties.exclude metric.names.formats metric.reporters "
        "topic.creation.groups",
        LIST,
        Scope.CONNECTOR,
        "A list of a part of MM2 around the data",
    ),
    *_later(
        "offset-syncs.topic.location use.defaults.from config.action.reload errors.tolerance "
        "exactly.once.support transaction.boundary offsets.storage.topic source.cluster.alias "
        "target.cluster.alias connector.class connector.plugin.version "
        "topics.blacklist groups.blacklist config.properties.blacklist",
        STRING,
        Scope.CONNECTOR,
        "A part of MM2 or Connect around the data",
    ),
    *_later(
        "group.filter.class config.property.filter.class forwarding.admin.class "
        "key.converter value.converter header.converter",
        CLASS,
        Scope.CONNECTOR,
        "A class of MM2 or Connect",
    ),
)

_CLIENT = (
    Option(
        name="bootstrap.servers",
        type=LIST,
        scope=Scope.CLIENT,
        doc="Brokers to ask first, as host:port, separated by commas",
    ),
    Option(
        name="security.protocol",
        type=STRING,
        scope=Scope.CLIENT,
        default="PLAINTEXT",
        doc="How to talk to brokers",
        support=Support.REFUSED,
    ),
)

_CONSUMER = (
    Option(
        name="isolation.level",
        type=STRING,
        scope=Scope.CONSUMER,
        default="read_uncommitted",
        valid=one_of("read_uncommitted", "read_committed"),
        doc="Whether records of aborted transactions are mirrored",
    ),
    Option(
        name="auto.offset.reset",
        type=STRING,
        scope=Scope.CONSUMER,
        default="earliest",  # MM2's own default; a plain consumer has latest
        valid=one_of("earliest", "latest", "none"),
        doc="Where a partition without a stored offset starts",
    ),
)

_WORKER = (
    Option(
        name="offset.storage.topic",
        type=STRING,
        scope=Scope.WORKER,
        valid=topic_characters,
        doc="Topic of stored offsets; mm2-offsets.<source>.internal if not set",
    ),
    Option(
        name="offset.storage.replication.factor",
        type=SHORT,
        scope=Scope.WORKER,
        default="3",
        valid=positive_or_broker_default,
        doc="Replication factor of the topic of stored offsets",
    ),
    Option(
        name="offset.storage.partitions",
        type=INT,
        scope=Scope.WORKER,
        default="25",
        valid=positive_or_broker_default,
        doc="Partitions of the topic of stored offsets",
    ),
    Option(
        name="offset.flush.interval.ms",
        type=LONG,
        scope=Scope.WORKER,
        default="60000",
        valid=at_least(1),
        doc="How often offsets are stored",
    ),
    Option(
        name="exactly.once.source.support",
        type=STRING,
        scope=Scope.WORKER,
        default="disabled",
        valid=one_of("disabled", "preparing", "enabled"),
        doc="Records and offsets in one transaction (KIP-618)",
        since="3.3",
        support=Support.REFUSED,
    ),
    *_later(
        "group.id client.id config.storage.topic config.storage.replication.factor "
        "status.storage.topic status.storage.replication.factor status.storage.partitions "
        "key.converter value.converter header.converter offset.flush.timeout.ms "
        "task.shutdown.graceful.timeout.ms session.timeout.ms heartbeat.interval.ms "
        "rebalance.timeout.ms scheduled.rebalance.max.delay.ms worker.sync.timeout.ms "
        "worker.unsync.backoff.ms connect.protocol inter.worker.key.generation.algorithm "
        "inter.worker.key.size inter.worker.key.ttl.ms inter.worker.signature.algorithm "
        "inter.worker.verification.algorithms topic.tracking.enable topic.tracking.allow.reset "
        "topic.creation.enable connector.client.config.override.policy plugin.path "
        "plugin.discovery internal.topics.automatic.creation.enable metrics.sample.window.ms "
        "metrics.num.samples metrics.recording.level metric.reporters request.timeout.ms "
        "retry.backoff.ms",
        STRING,
        Scope.WORKER,
        "A setting of the Connect worker",
    ),
)

OPTIONS: dict[tuple[Scope, str], Option] = {
    (option.scope, option.name): option
    for option in (*_TOP, *_FLOW, *_CLIENT, *_CONSUMER, *_WORKER)
}
