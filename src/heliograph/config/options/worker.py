"""The Connect worker of a target (`DistributedConfig`, `WorkerConfig`): `B.x`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

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
    at_least,
    byte_array_converter,
    one_of,
    positive_or_broker_default,
    topic_characters,
)

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

_worker = partial(Option, scope=Scope.WORKER)


def _storage(kind: str, holds: str, name: str, partitions: str | None) -> Iterator[Option]:
    """The topic of one of Connect's stores; the config topic has one partition, always."""
    yield _worker(
        name=f"{kind}.storage.topic",
        type=STRING,
        valid=topic_characters,
        importance=Importance.HIGH,
        doc=f"Topic of {holds}; {name} if not set",
    )
    yield _worker(
        name=f"{kind}.storage.replication.factor",
        type=SHORT,
        default="3",
        valid=positive_or_broker_default,
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
        doc="How often offsets are stored",
    ),
    _worker(
        name="group.id",
        type=STRING,
        importance=Importance.HIGH,
        doc="Group on the target by which one service at a time runs a flow; <source>-mm2 if not set",
    ),
    *(
        _worker(
            name=name,
            type=CLASS,
            default=BYTE_ARRAY_CONVERTER,
            valid=byte_array_converter,
            importance=Importance.HIGH,
            doc="Only this: records are copied as they are",
        )
        for name in ("key.converter", "value.converter", "header.converter")
    ),
    _worker(
        name="exactly.once.source.support",
        type=STRING,
        default="disabled",
        valid=one_of("disabled", "preparing", "enabled"),
        importance=Importance.HIGH,
        doc="Records and offsets in one transaction (KIP-618) if enabled; preparing is as disabled",
        since="3.3",
    ),
)


# name, type, default, doc, since
_LATER: tuple[tuple[str, OptionType, str | None, str, str], ...] = (
    ("client.id", STRING, None, "Client id of the worker; A->B if not set", "2.4"),
    ("offset.flush.timeout.ms", LONG, "5000", "How long storing offsets may take", "2.4"),
    ("task.shutdown.graceful.timeout.ms", LONG, "5000", "How long tasks may take to stop", "2.4"),
    ("session.timeout.ms", INT, "10000", "When a silent worker is taken for gone", "2.4"),
    ("heartbeat.interval.ms", INT, "3000", "How often a worker shows that it is there", "2.4"),
    ("rebalance.timeout.ms", INT, "60000", "How long workers may take to rebalance", "2.4"),
    (
        "scheduled.rebalance.max.delay.ms",
        INT,
        "300000",
        "How long the work of a worker that left waits for it",
        "2.4",
    ),
    ("worker.sync.timeout.ms", INT, "3000", "How long a worker may lag behind others", "2.4"),
    ("worker.unsync.backoff.ms", INT, "300000", "How long a worker that lags stays out", "2.4"),
    ("connect.protocol", STRING, "sessioned", "How workers share the work", "2.4"),
    (
        "inter.worker.key.generation.algorithm",
        STRING,
        "HmacSHA256",
        "How keys between workers are made",
        "2.4",
    ),
    ("inter.worker.key.size", INT, None, "Size of keys between workers", "2.4"),
    ("inter.worker.key.ttl.ms", INT, "3600000", "How long such a key is used", "2.4"),
    (
        "inter.worker.signature.algorithm",
        STRING,
        "HmacSHA256",
        "How requests between workers are signed",
        "2.4",
    ),
    (
        "inter.worker.verification.algorithms",
        LIST,
        "HmacSHA256",
        "Which signatures between workers are taken",
        "2.4",
    ),
    ("topic.tracking.enable", BOOLEAN, "true", "Whether topics in use are recorded", "2.5"),
    ("topic.tracking.allow.reset", BOOLEAN, "true", "Whether that record may be reset", "2.5"),
    ("topic.creation.enable", BOOLEAN, "true", "Whether Connect may make topics", "2.6"),
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
    ("plugin.path", LIST, None, "Where Java plugins are", "2.4"),
    ("plugin.discovery", STRING, "hybrid_warn", "How Java plugins are found", "3.6"),
    (
        "internal.topics.automatic.creation.enable",
        BOOLEAN,
        "true",
        "Whether Connect makes its internal topics (KIP-1209)",
        "4.4",
    ),
    ("metrics.sample.window.ms", LONG, "30000", "Window of a metric's sample", "2.4"),
    ("metrics.num.samples", INT, "2", "Samples of a metric", "2.4"),
    ("metrics.recording.level", STRING, "INFO", "Which metrics are recorded", "2.4"),
    ("metric.reporters", LIST, None, "Classes that metrics are reported to", "2.4"),
    ("request.timeout.ms", INT, "40000", "How long a request may take", "2.4"),
    ("retry.backoff.ms", LONG, "100", "How long to wait before a request is repeated", "2.4"),
    ("bootstrap.resolve.timeout.ms", LONG, "0", "How long names may take to resolve", "4.4"),
)

WORKER = (
    *_ACTED,
    *(
        _worker(name=name, type=type_, default=default, doc=doc, since=since, support=Support.LATER)
        for name, type_, default, doc, since in _LATER
    ),
)
