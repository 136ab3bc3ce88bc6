"""The names of all settings of Kafka's own clients, to tell a misspelt setting from a real one.

A family that ends in a dot stands for all names below it.
"""

from __future__ import annotations

from heliograph.config.options import OPTIONS, Option, Scope, Support
from heliograph.config.options.values import PASSWORD, STRING

SECURITY_FAMILIES = ("ssl.", "sasl.", "security.")

_ANY_CLIENT = (
    "client.id client.rack client.dns.lookup metadata.max.age.ms send.buffer.bytes "
    "receive.buffer.bytes reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.ms "
    "retry.backoff.max.ms request.timeout.ms connections.max.idle.ms "
    "socket.connection.setup.timeout.ms socket.connection.setup.timeout.max.ms "
    "metadata.recovery.strategy metadata.recovery.rebootstrap.trigger.ms metric.reporters "
    "metrics.num.samples metrics.recording.level metrics.sample.window.ms enable.metrics.push"
)
_CONSUMER = (
    "group.id group.instance.id group.protocol session.timeout.ms heartbeat.interval.ms "
    "max.poll.records max.poll.interval.ms enable.auto.commit auto.commit.interval.ms "
    "partition.assignment.strategy fetch.min.bytes fetch.max.bytes fetch.max.wait.ms "
    "max.partition.fetch.bytes check.crcs key.deserializer value.deserializer "
    "default.api.timeout.ms interceptor.classes exclude.internal.topics "
    "allow.auto.create.topics"
)
_PRODUCER = (
    "acks batch.size buffer.memory compression.type compression.gzip.level "
    "compression.lz4.level compression.zstd.level delivery.timeout.ms enable.idempotence "
    "interceptor.classes key.serializer value.serializer linger.ms max.block.ms "
    "max.in.flight.requests.per.connection max.request.size metadata.max.idle.ms "
    "partitioner.class partitioner.ignore.keys partitioner.adaptive.partitioning.enable "
    "partitioner.availability.timeout.ms retries transaction.timeout.ms transactional.id"
)
_ADMIN = "default.api.timeout.ms retries bootstrap.controllers"

CLIENT_NAMES: dict[Scope, frozenset[str]] = {
    Scope.CONSUMER: frozenset(f"{_ANY_CLIENT} {_CONSUMER}".split()),
    Scope.PRODUCER: frozenset(f"{_ANY_CLIENT} {_PRODUCER}".split()),
    Scope.ADMIN: frozenset(f"{_ANY_CLIENT} {_ADMIN}".split()),
    Scope.WORKER: frozenset(_ANY_CLIENT.split()),
}


def is_security(name: str) -> bool:
    return name.startswith(SECURITY_FAMILIES)


def client_option(scope: Scope, name: str) -> Option | None:
    """The option `name` of a client of this kind; None: Kafka has no such setting."""
    for known in (Scope.CLIENT, scope):
        if (known, name) in OPTIONS:
            return OPTIONS[known, name]
    if name == "security.providers":
        return Option(
            name=name,
            type=PASSWORD,
            scope=Scope.CLIENT,
            doc="Java security providers",
            support=Support.REFUSED,
        )
    if name in CLIENT_NAMES.get(scope, frozenset()):
        return Option(
            name=name, type=STRING, scope=scope, doc="A client setting", support=Support.LATER
        )
    return None


def known_names(scope: Scope) -> set[str]:
    """Names that are suggested for a misspelt one in this scope."""
    own = {name for own_scope, name in OPTIONS if own_scope is scope}
    if scope in CLIENT_NAMES:
        own |= {name for own_scope, name in OPTIONS if own_scope is Scope.CLIENT}
    return own | CLIENT_NAMES.get(scope, frozenset())


def client_kind(name: str) -> Scope | None:
    """The kind of client that has a setting of this name, if exactly one kind has it."""
    kinds = [scope for scope in (Scope.CONSUMER, Scope.PRODUCER) if name in CLIENT_NAMES[scope]]
    return kinds[0] if len(kinds) == 1 else None
