"""Generates server.properties and the logging configuration of one broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import javaproperties

from heliograph.embedded.jars import major
from heliograph.embedded.listener import Listener
from heliograph.errors import ConfigError

HOST = "127.0.0.1"

# Set by this module: with other values the nodes would not find each other.
_OWN = frozenset(
    {
        "process.roles",
        "node.id",
        "broker.id",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "controller.listener.names",
        "inter.broker.listener.name",
        "security.inter.broker.protocol",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The ports of one node; `clients` in the order of the listeners."""

    controller: int
    internal: int
    clients: tuple[int, ...]


def check_settings(cluster: str, settings: Mapping[str, str]) -> None:
    """Raises ConfigError for settings that this module sets."""
    taken = sorted(_OWN & settings.keys())
    if taken:
        raise ConfigError([f"cluster {cluster}: {key} is set by Heliograph" for key in taken])


def broker_properties(
    node: int,
    ports: Sequence[Ports],
    listeners: Sequence[Listener],
    settings: Mapping[str, str],
    data: Path,
) -> dict[str, str]:
    """All properties of node `node` (ids count from 1) in a cluster of `len(ports)` nodes.

    Combined broker and controller, a static quorum; `settings` override the defaults.
    """
    own = ports[node - 1]
    internal = f"INTERNAL://{HOST}:{own.internal}"
    clients = [
        f"{each.name}://{each.host}:{port}"
        for each, port in zip(listeners, own.clients, strict=True)
    ]
    advertised = [
        f"{each.name}://{each.host}:{each.advertised_ports[node - 1] if each.advertised_ports else port}"
        for each, port in zip(listeners, own.clients, strict=True)
    ]
    protocols = {"CONTROLLER": "PLAINTEXT", "INTERNAL": "PLAINTEXT"}
    protocols |= {each.name: each.protocol.value for each in listeners}
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "controller.quorum.voters": ",".join(
            f"{id_}@{HOST}:{each.controller}" for id_, each in enumerate(ports, start=1)
        ),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "INTERNAL",
        "listeners": ",".join([internal, *clients, f"CONTROLLER://{HOST}:{own.controller}"]),
        "advertised.listeners": ",".join([internal, *advertised]),
        "listener.security.protocol.map": ",".join(f"{n}:{p}" for n, p in protocols.items()),
        "log.dirs": str(data),
        **_defaults(len(ports)),
    }
    for listener in listeners:
        properties |= listener.properties()
    properties |= settings
    # An empty list stays: with allow.everyone.if.no.acl.found the brokers need no super user.
    if properties.get("authorizer.class.name") and properties.get("super.users") != "":
        properties["super.users"] = _with_anonymous(properties.get("super.users", ""))
    return properties


def _defaults(nodes: int) -> dict[str, str]:
    replicas, in_sync = ("3", "2") if nodes >= 3 else ("1", "1")
    return {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        # Internal topics are created at first use; 50 partitions each would take seconds.
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.num.partitions": "5",
        "share.coordinator.state.topic.num.partitions": "5",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        # No record without content every half second: it is half of what an idle broker does.
        "metadata.max.idle.interval.ms": "0",
        # The log cleaner allocates this at start: 128 MB by default, a quarter of the heap here.
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
    }


def _with_anonymous(super_users: str) -> str:
    # INTERNAL and CONTROLLER are PLAINTEXT, so brokers are ANONYMOUS to each other.
    users = [user for user in super_users.split(";") if user]
    return ";".join(users if "User:ANONYMOUS" in users else [*users, "User:ANONYMOUS"])


def render_properties(properties: Mapping[str, str]) -> str:
    """Java's properties format, with escapes for readers of ISO-8859-1 such as Kafka."""
    return str(javaproperties.dumps(properties, timestamp=None))


def log_configuration(version: str, log: Path) -> tuple[str, str, str]:
    """File name, contents and JVM argument (up to the path) of this version's logging configuration."""
    if major(version) >= 4:
        lines = {
            "status": "error",
            "appender.file.type": "File",
            "appender.file.name": "file",
            "appender.file.fileName": str(log),
            "appender.file.layout.type": "PatternLayout",
            "appender.file.layout.pattern": "[%d] %p %m (%c)%n",
            "rootLogger.level": "info",
            "rootLogger.appenderRef.file.ref": "file",
        }
        return "log4j2.properties", render_properties(lines), "-Dlog4j2.configurationFile="
    lines = {
        "log4j.rootLogger": "INFO, file",
        "log4j.appender.file": "org.apache.log4j.FileAppender",
        "log4j.appender.file.File": str(log),
        "log4j.appender.file.layout": "org.apache.log4j.PatternLayout",
        "log4j.appender.file.layout.ConversionPattern": "[%d] %p %m (%c)%n",
    }
    return "log4j.properties", render_properties(lines), "-Dlog4j.configuration=file:"
