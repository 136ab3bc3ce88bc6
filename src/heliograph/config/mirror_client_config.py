"""Reads the properties of a MirrorClient, as MM2's `MirrorClientConfig` does.

bootstrap.servers = host:9092
replication.policy.separator = _
consumer.bootstrap.servers = other:9092       admin. and consumer. take precedence for that client
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.config.options import OPTIONS, Option, Scope, Support
from heliograph.config.options.addresses import host_port
from heliograph.config.options.kafka_clients import CLIENT_NAMES, is_security
from heliograph.config.options.values import InvalidValue, parse_list
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.security.connection import read_security
from heliograph.errors import ConfigError
from heliograph.model import ClusterConfig
from heliograph.policy.classes import replication_policy
from heliograph.policy.naming import DefaultReplicationPolicy, ReplicationPolicy
from heliograph.policy.rename import TOPIC_MAP, TOPIC_RENAME
from heliograph.security import Security

_BOOTSTRAP = "bootstrap.servers"
_POLICY_CLASS = "replication.policy.class"
_SEPARATOR = "replication.policy.separator"
_INTERNAL_SEPARATOR = "replication.policy.internal.topic.separator.enabled"
_FORWARDING_ADMIN = "forwarding.admin.class"
_SOURCE_ALIAS = "source.cluster.alias"  # IdentityReplicationPolicy needs it, as in Java
_POLICY_OPTIONS = (_POLICY_CLASS, _SEPARATOR, _INTERNAL_SEPARATOR)
_PREFIXES = ("admin.", "consumer.", "producer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorClientConfig:
    """`admin` lists topics, `consumer` reads them; as in MM2, their connections may differ."""

    admin: ClusterConfig
    consumer: ClusterConfig
    policy: ReplicationPolicy
    warnings: tuple[str, ...] = ()


def mirror_client_config(
    properties: Mapping[str, str], *, subject: str = "MirrorClient"
) -> MirrorClientConfig:
    """Raises ConfigError with every problem. `subject` names the cluster in messages."""
    reading = _Reading(properties, subject)
    config = MirrorClientConfig(
        admin=reading.cluster("admin."),
        consumer=reading.cluster("consumer."),
        policy=reading.policy(),
        warnings=reading.warnings(),
    )
    if reading.problems:
        raise ConfigError(list(dict.fromkeys(reading.problems)))
    return config


class _Reading:
    def __init__(self, properties: Mapping[str, str], subject: str) -> None:
        self._properties = properties
        self._subject = subject
        self.problems: list[str] = []

    def cluster(self, prefix: str) -> ClusterConfig:
        key = prefix + _BOOTSTRAP if prefix + _BOOTSTRAP in self._properties else _BOOTSTRAP
        servers = [each for each in parse_list(self._properties.get(key, "")) if each]
        if not servers:
            self.problems.append(f"{key}: missing; expected host:port of one or more brokers")
        return ClusterConfig(
            alias=self._subject,
            bootstrap_servers=tuple(self._host_port(key, server) for server in servers),
            security=self._security(prefix),
        )

    def _security(self, prefix: str) -> Security:
        keys = {
            _bare(key): key
            for start in ("", prefix)
            for key in self._properties
            if key.startswith(start) and is_security(key.removeprefix(start))
        }
        for name, key in keys.items():
            option = OPTIONS.get((Scope.CLIENT, name))
            if option is not None:
                self._check(key, option)
                if option.support is Support.REFUSED:
                    self.problems.append(f"{key}: not supported by this version; leave it out")
        security, problems = read_security({n: self._properties[k] for n, k in keys.items()}, keys)
        self.problems += [
            problem.describe(
                keys.get(problem.setting, problem.setting),
                self._properties.get(keys.get(problem.setting, "")),
            )
            for problem in problems
        ]
        return security

    def policy(self) -> ReplicationPolicy:
        """Created only if there are no other problems."""
        for name in _POLICY_OPTIONS:
            self._check(name, _option(name))
        class_name = self._properties.get(_POLICY_CLASS, str(_option(_POLICY_CLASS).default))
        if self.problems:
            return DefaultReplicationPolicy()
        return replication_policy(class_name, self._properties, self._properties.get(_SOURCE_ALIAS))

    def warnings(self) -> tuple[str, ...]:
        acted = {_BOOTSTRAP, _SOURCE_ALIAS, *_POLICY_OPTIONS, TOPIC_MAP, TOPIC_RENAME}
        known = acted | {_FORWARDING_ADMIN}.union(*CLIENT_NAMES.values())
        return tuple(
            f"{key}: known, but without effect in this version"
            if name in known
            else f"{key}: unknown setting; only your own policy could read it{did_you_mean(name, known)}"
            for key, name in ((key, _bare(key)) for key in self._properties)
            if name not in acted and not is_security(name)
        )

    def _check(self, key: str, option: Option) -> None:
        text = self._properties.get(key)
        try:
            if text is not None:
                option.parse(text)
        except InvalidValue as invalid:
            self.problems.append(f"{key}: expected {invalid.expected}, found {text!r}")

    def _host_port(self, key: str, server: str) -> str:
        try:
            return host_port(server)
        except InvalidValue as invalid:
            self.problems.append(f"{key}: expected {invalid.expected}, found {server!r}")
            return server


def _option(name: str) -> Option:
    return OPTIONS[Scope.CONNECTOR, name]


def _bare(key: str) -> str:
    for prefix in _PREFIXES:
        if key.startswith(prefix):
            return key.removeprefix(prefix)
    return key
