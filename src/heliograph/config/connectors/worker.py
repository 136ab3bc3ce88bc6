"""Reads a Connect worker's configuration: `worker.properties` and CONNECT_… variables, which take precedence.

Mirrors `WorkerConfig`, `DistributedConfig` and `RestServerConfig`. All problems are collected before they are
raised, each with its line or the name of its variable.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from heliograph.config.clusters import Logins, checked_servers
from heliograph.config.formats.kubernetes import KubernetesSecrets
from heliograph.config.formats.properties import PropertiesFile, Property, read_properties
from heliograph.config.formats.wrong_command import not_a_worker
from heliograph.config.metrics_config import MetricsConfig, read_metrics_config
from heliograph.config.mirror_config import InternalTopic
from heliograph.config.options import OPTIONS, Option, Scope, Support
from heliograph.config.options.checks import byte_array_converter
from heliograph.config.options.kafka_clients import client_option, known_names
from heliograph.config.options.top import HTTPS_PREFIXES
from heliograph.config.resolve.diagnostics import key_warnings, refused_problems, value_problems
from heliograph.config.resolve.environment import settings_in
from heliograph.config.resolve.key_lookup import (
    CLIENT_SETTING,
    OPEN_FAMILIES,
    PROVIDER_SETTING,
    UNKNOWN,
    Ineffective,
    KeyUse,
    Known,
    https_setting,
    of_provider,
    open_setting,
)
from heliograph.config.resolve.layers import Setting, Settings
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.resolve.placeholders import Placeholders
from heliograph.config.resolve.same_cause import told_once
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.config.security.rest_allowlist import read_permitted
from heliograph.errors import ConfigError
from heliograph.model import ClientKind, ClusterConfig
from heliograph.permitted import Permitted

#: The name of the worker's own cluster in messages.
WORKER_ALIAS = "the worker's cluster"
_DEFAULT_SERVERS = str(OPTIONS[Scope.SERVE, "bootstrap.servers"].default)
_REQUIRED = {
    "group.id": "the name of the workers' group",
    "config.storage.topic": "the topic of connector configurations",
    "offset.storage.topic": "the topic of stored offsets",
    "status.storage.topic": "the topic of connector states",
}
_CONVERTERS = ("key.converter", "value.converter", "header.converter")
#: Settings that have an effect in a worker's file, but not in a file of flows.
_ACTED_HERE = re.compile(
    r"listeners|admin\.listeners|rest\.advertised\..*|access\.control\..*|response\.http\.headers\.config"
    r"|ssl\.client\.auth|connector\.client\.config\.override\..*|topic\.tracking\..*|client\.id"
    r"|session\.timeout\.ms|heartbeat\.interval\.ms|rebalance\.timeout\.ms|config\.providers"
)
_NO_SECRETS = KubernetesSecrets()
_GONE = re.compile(r"internal\.(key|value)\.converter(\..*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """A worker of a Connect cluster. `settings` are all settings, by name; `placeholders` fills in the
    placeholders of connectors by the worker's config providers. `permitted`: what connectors created through
    REST may name.

    The REST API has a configuration of its own (`config/connectors/rest.py`).
    """

    name: str
    group_id: str
    cluster: ClusterConfig
    config_topic: InternalTopic
    offsets_topic: InternalTopic
    status_topic: InternalTopic
    offset_flush_interval_ms: int
    exactly_once_source_support: str
    override_policy: str
    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_timeout_ms: int
    topic_tracking_enable: bool
    epoch_seconds: int
    once_timeout_seconds: int
    channel_host: str
    channel_port: int
    accepts_unencrypted_secrets: bool
    settings: Settings = field(repr=False, hash=False)
    placeholders: Placeholders = field(repr=False, hash=False, compare=False)
    permitted: Permitted
    metrics: MetricsConfig = field(default_factory=MetricsConfig)
    warnings: tuple[str, ...] = ()

    @property
    def exactly_once(self) -> bool:
        return self.exactly_once_source_support == "enabled"


def load_worker(
    path: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    secrets: KubernetesSecrets = _NO_SECRETS,
) -> WorkerConfig:
    """Raises ConfigError. Without `path`, reads the environment only. `secrets`: Secrets and ConfigMaps."""
    file = PropertiesFile(name="the environment", properties={})
    if path is not None:
        if wrong := not_a_worker(path):
            raise ConfigError(wrong)
        file = read_properties(path)
        if wrong := not_a_worker(path, file):
            raise ConfigError(wrong)
    return worker_of(
        replace(file, properties=file.properties | settings_in(environment)), environment, secrets
    )


def worker_of(
    file: PropertiesFile, environment: Mapping[str, str], secrets: KubernetesSecrets = _NO_SECRETS
) -> WorkerConfig:
    """Raises ConfigError."""
    placeholders = Placeholders(file, environment, secrets)
    filled = placeholders.fill_in(file)
    return _Reading(filled.file, placeholders, placeholders.problems + filled.problems).worker()


class _Reading:
    def __init__(
        self, file: PropertiesFile, placeholders: Placeholders, problems: list[str]
    ) -> None:
        self._file = file
        self._placeholders = placeholders
        self._problems = problems
        self._security_warnings: list[str] = []
        self._settings = {key: Setting(key, found) for key, found in file.properties.items()}

    def worker(self) -> WorkerConfig:
        key_uses = [_look_up(key) for key in self._file.properties]
        self._problems += value_problems(self._file, key_uses)
        self._problems += refused_problems(self._file, key_uses)
        self._require()
        worker, top = self._typed(Scope.WORKER), self._typed(Scope.TOP)
        config = WorkerConfig(
            name=self._file.name,
            group_id=worker.text("group.id"),
            cluster=self._cluster(),
            config_topic=_storage("config", worker, partitions=1),
            offsets_topic=_storage("offset", worker),
            status_topic=_storage("status", worker),
            offset_flush_interval_ms=worker.number("offset.flush.interval.ms"),
            exactly_once_source_support=worker.text("exactly.once.source.support"),
            override_policy=worker.text("connector.client.config.override.policy"),
            session_timeout_ms=worker.number("session.timeout.ms"),
            heartbeat_interval_ms=worker.number("heartbeat.interval.ms"),
            rebalance_timeout_ms=worker.number("rebalance.timeout.ms"),
            topic_tracking_enable=worker.flag("topic.tracking.enable"),
            epoch_seconds=top.number("epoch.seconds"),
            once_timeout_seconds=top.number("once.timeout.seconds"),
            channel_host=top.text("driver.channel.host"),
            channel_port=top.number("driver.channel.port"),
            accepts_unencrypted_secrets=top.text("spark.unencrypted.secrets.policy") == "accept",
            metrics=read_metrics_config(top),
            settings=self._settings,
            placeholders=self._placeholders,
            permitted=read_permitted({name: each.value for name, each in self._settings.items()}),
            warnings=(
                *self._file.warnings,
                *self._placeholders.unnamed(),
                *key_warnings(self._file, key_uses),
                *self._converters(),
                *dict.fromkeys(self._security_warnings),
            ),
        )
        if self._problems:
            raise ConfigError(told_once(self._problems))
        return config

    def _typed(self, scope: Scope) -> TypedSettings:
        return TypedSettings(self._settings, scope, self._file.name, self._problems)

    def _require(self) -> None:
        keys = self._file.properties
        self._problems += [
            f"{name}: missing in {self._file.name}; expected {_REQUIRED[name]}"
            f"{did_you_mean(name, keys.keys() - _REQUIRED.keys())}"
            for name in _REQUIRED
            if name not in keys or not keys[name].value.strip()
        ]
        topics = {
            name: keys[name].value.strip()
            for name in _REQUIRED
            if name != "group.id" and name in keys
        }
        for name, topic in topics.items():
            twin = next(other for other, its in topics.items() if its == topic)
            if topic and twin != name:
                self._problems.append(
                    f"{name}: expected another topic than that of {twin}, found {topic!r} for both "
                    f"({self._file.where(name)})"
                )

    def _cluster(self) -> ClusterConfig:
        default = Setting("bootstrap.servers", Property(_DEFAULT_SERVERS, 0))
        setting = self._settings.get("bootstrap.servers", default)
        servers = checked_servers(setting, self._file.name, self._problems)
        if not servers and not setting.found.broken:
            self._problems.append(
                f"bootstrap.servers: expected host:port of one or more brokers, found nothing "
                f"({setting.found.at(self._file.name)})"
            )
        cluster = ClusterConfig(alias=WORKER_ALIAS, bootstrap_servers=servers)
        logins = Logins(
            self._file.name, self._problems, self._security_warnings, "", lambda _key: True
        )
        return logins.secured(cluster, dict.fromkeys(ClientKind, self._settings))

    def _converters(self) -> list[str]:
        """A Java worker would convert the records of connectors that set no converter: a warning."""
        return [
            f"{name}: has no effect: a Java worker would convert the records of connectors that do not set "
            f"it; here records are copied as they are ({self._file.where(name)})"
            for name in _CONVERTERS
            if name in self._settings
            and not byte_array_converter.accepts(self._settings[name].value.strip())
        ]


def _storage(kind: str, worker: TypedSettings, *, partitions: int | None = None) -> InternalTopic:
    return InternalTopic(
        name=worker.text(f"{kind}.storage.topic"),
        partitions=partitions or worker.number(f"{kind}.storage.partitions"),
        replication_factor=worker.number(f"{kind}.storage.replication.factor"),
    )


def _look_up(key: str) -> KeyUse:
    option = _option(key)
    if option is not None:
        acted = _ACTED_HERE.fullmatch(key) is not None
        return Known(key, "", replace(option, support=Support.ACTED) if acted else option)
    if match := PROVIDER_SETTING.fullmatch(key):
        return of_provider(key, match)
    if match := CLIENT_SETTING.fullmatch(key):
        return _of_client(key, Scope(match["kind"]), match["name"])
    if key.startswith(HTTPS_PREFIXES):
        return Known(key, "", https_setting(key))
    if key.startswith(OPEN_FAMILIES):
        return Known(key, "", open_setting(key))
    if _GONE.fullmatch(key):
        return Ineffective(key, "has no effect since Kafka 3.0; leave it out")
    if key == "clusters":
        return Ineffective(
            key, "has no effect in a worker's file; it is a setting of mm2.properties"
        )
    known = known_names(Scope.SERVE) | known_names(Scope.WORKER) | known_names(Scope.TOP)
    return Ineffective(key, f"{UNKNOWN}{did_you_mean(key, known)}")


def _option(key: str) -> Option | None:
    if (Scope.SERVE, key) in OPTIONS:
        return OPTIONS[Scope.SERVE, key]
    rest = OPTIONS.get((Scope.TOP, key))
    if rest is not None and key != "clusters":
        return rest
    return client_option(Scope.WORKER, key)


def _of_client(key: str, scope: Scope, name: str) -> KeyUse:
    prefix = f"{scope}."
    option = client_option(scope, name)
    if option is not None:
        return Known(key, prefix, option)
    return Ineffective(key, f"{UNKNOWN}{did_you_mean(name, known_names(scope), prefix)}")
