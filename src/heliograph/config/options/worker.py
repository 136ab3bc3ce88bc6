"""Options of the Connect worker of a target B (`DistributedConfig`, `WorkerConfig`): `B.x`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from heliograph.config.options.checks import (
    at_least,
    byte_array_converter,
    header_converter,
    one_of,
    positive_or_broker_default,
    replicas_or_broker_default,
    topic_name,
)
from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import (
    BOOLEAN,
    BYTE_ARRAY_CONVERTER,
    CLASS,
    INT,
    LIST,
    LONG,
    SHORT,
    STRING,
    OptionType,
)

# MirrorMakerConfig.workerConfig reads these at the top level, too, where they take precedence over B.x.
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

_worker = partial(Option, scope=Scope.WORKER)


def _storage(kind: str, holds: str, name: str, partitions: str | None) -> Iterator[Option]:
    """Options of one of Connect's internal topics; the config topic always has one partition."""
    yield _worker(
        name=f"{kind}.storage.topic",
        type=STRING,
        valid=topic_name,
        importance=Importance.HIGH,
        doc=f"Topic of {holds}; {name} if not set",
    )
    yield _worker(
        name=f"{kind}.storage.replication.factor",
        type=SHORT,
        default="3",
        valid=replicas_or_broker_default,
        doc=f"Replication factor of the topic of {holds}; -1 for the broker's default",
    )
    if partitions is not None:
        yield _worker(
            name=f"{kind}.storage.partitions",
            type=INT,
            default=partitions,
            valid=positive_or_broker_default,
            doc=f"Partitions of the topic of {holds}; -1 for the broker's default",
        )


_ACTED = (
    *_storage("offset", "stored offsets", "mm2-offsets.<source>.internal", "25"),
    *_storage("config", "connector configurations", "mm2-configs.<source>.internal", None),
    *_storage("status", "connector states", "mm2-status.<source>.internal", "5"),
    _worker(
        name="offset.flush.interval.ms",
        type=LONG,
        default="60000",
        valid=at_least(1),
        doc="How often offsets are stored, in milliseconds",
    ),
    _worker(
        name="group.id",
        type=STRING,
        importance=Importance.HIGH,
        doc="Group on the target that elects the one service that runs a flow; <source>-mm2 if not set",
    ),
    *(
        _worker(
            name=name,
            type=CLASS,
            default=BYTE_ARRAY_CONVERTER,
            valid=header_converter if name == "header.converter" else byte_array_converter,
            importance=Importance.HIGH,
            doc="ByteArrayConverter only, since records are copied as they are"
            + ("; SimpleHeaderConverter has no effect" if name == "header.converter" else ""),
        )
        for name in ("key.converter", "value.converter", "header.converter")
    ),
    _worker(
        name="exactly.once.source.support",
        type=STRING,
        default="disabled",
        valid=one_of("disabled", "preparing", "enabled"),
        importance=Importance.HIGH,
        doc="enabled: records and their offsets are written in one transaction (KIP-618); preparing has the "
        "effect of disabled",
        since="3.3",
    ),
)


# name, type, default, doc, since
_LATER: tuple[tuple[str, OptionType, str | None, str, str], ...] = (
    ("client.id", STRING, None, "Client id of the worker; A->B if not set", "2.4"),
    (
        "offset.flush.timeout.ms",
        LONG,
        "5000",
        "How long storing offsets may take, in milliseconds",
        "2.4",
    ),
    (
        "task.shutdown.graceful.timeout.ms",
        LONG,
        "5000",
        "How long tasks may take to stop, in milliseconds",
        "2.4",
    ),
    (
        "session.timeout.ms",
        INT,
        "10000",
        "Time without heartbeats after which a worker is removed",
        "2.4",
    ),
    (
        "heartbeat.interval.ms",
        INT,
        "3000",
        "How often a worker sends heartbeats to its group",
        "2.4",
    ),
    ("rebalance.timeout.ms", INT, "60000", "How long workers may take to join a rebalance", "2.4"),
    (
        "scheduled.rebalance.max.delay.ms",
        INT,
        "300000",
        "How long the tasks of a worker that left are kept for its return",
        "2.4",
    ),
    (
        "worker.sync.timeout.ms",
        INT,
        "3000",
        "How long a worker may take to catch up with the config topic",
        "2.4",
    ),
    (
        "worker.unsync.backoff.ms",
        INT,
        "300000",
        "How long a worker that does not catch up stays out of the group",
        "2.4",
    ),
    (
        "connect.protocol",
        STRING,
        "sessioned",
        "Protocol by which workers share connectors and tasks",
        "2.4",
    ),
    (
        "inter.worker.key.generation.algorithm",
        STRING,
        "HmacSHA256",
        "Algorithm of keys between workers",
        "2.4",
    ),
    ("inter.worker.key.size", INT, None, "Size of keys between workers", "2.4"),
    (
        "inter.worker.key.ttl.ms",
        INT,
        "3600000",
        "How long such a key is used, in milliseconds",
        "2.4",
    ),
    (
        "inter.worker.signature.algorithm",
        STRING,
        "HmacSHA256",
        "Algorithm of signatures between workers",
        "2.4",
    ),
    (
        "inter.worker.verification.algorithms",
        LIST,
        "HmacSHA256",
        "Algorithms of signatures that workers accept",
        "2.4",
    ),
    (
        "topic.tracking.enable",
        BOOLEAN,
        "true",
        "Whether the topics that connectors use are recorded",
        "2.5",
    ),
    (
        "topic.tracking.allow.reset",
        BOOLEAN,
        "true",
        "Whether REST may reset the topics of a connector",
        "2.5",
    ),
    ("topic.creation.enable", BOOLEAN, "true", "Whether Connect may create topics", "2.6"),
    (
        "connector.client.config.override.policy",
        STRING,
        "All",
        "Which client settings a connector may override; MM2 forces All",
        "2.4",
    ),
    (
        "connector.client.config.override.allowlist",
        LIST,
        "",
        "Client settings that a connector may override under the policy Allowlist (KIP-1188)",
        "4.2",
    ),
    ("plugin.path", LIST, None, "Folders of Java plugins", "2.4"),
    ("plugin.discovery", STRING, "hybrid_warn", "How Java plugins are found", "3.6"),
    (
        "internal.topics.automatic.creation.enable",
        BOOLEAN,
        "true",
        "Whether Connect creates its internal topics (KIP-1209)",
        "4.4",
    ),
    (
        "metrics.sample.window.ms",
        LONG,
        "30000",
        "Time that a sample of a metric covers, in milliseconds",
        "2.4",
    ),
    ("metrics.num.samples", INT, "2", "Number of samples that a metric keeps", "2.4"),
    ("metrics.recording.level", STRING, "INFO", "Which metrics are recorded", "2.4"),
    ("metric.reporters", LIST, None, "Java classes that report metrics", "2.4"),
    ("request.timeout.ms", INT, "40000", "How long a request may take, in milliseconds", "2.4"),
    ("retry.backoff.ms", LONG, "100", "Wait before a request is repeated, in milliseconds", "2.4"),
    (
        "bootstrap.resolve.timeout.ms",
        LONG,
        "0",
        "How long host names may take to resolve, in milliseconds",
        "4.4",
    ),
)

WORKER = (
    *_ACTED,
    *(
        _worker(name=name, type=type_, default=default, doc=doc, since=since, support=Support.LATER)
        for name, type_, default, doc, since in _LATER
    ),
)
