"""Reads the settings of the metrics: which names, in which detail, with which labels, on which port."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from heliograph.config.options.checks import constant_labels
from heliograph.config.options.values import InvalidValue, parse_list
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.errors import ConfigError
from heliograph.security import Secret

LABELS_VARIABLE = "HELIOGRAPH_METRICS_LABELS"
#: Container images set it, so that probes find a port whatever file is mounted.
LISTENER_VARIABLE = "HELIOGRAPH_METRICS_LISTENER"
_ADDRESS = re.compile(r"http://\[?([\w.:-]*?)\]?:(\d+)")


class Detail(StrEnum):
    PARTITION = "partition"
    TOPIC = "topic"
    FLOW = "flow"


class Names(StrEnum):
    """MirrorMaker 2's names of metrics, as different exporters give them."""

    STRIMZI_JMX = "strimzi-jmx"
    STRIMZI_REPORTER = "strimzi-reporter"
    MSK = "msk"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpConfig:
    """A collector of OpenTelemetry. `headers` may have a login."""

    endpoint: str
    headers: tuple[tuple[str, Secret], ...] = ()
    interval_seconds: float = 60.0

    @property
    def url(self) -> str:
        path = "/v1/metrics"
        base = self.endpoint.rstrip("/")
        return base if base.endswith(path) else base + path


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsConfig:
    """`listener`: host ("": every address of this machine) and port of their own; None: there is none.
    `otlp` None: nothing is sent."""

    listener: tuple[str, int] | None = None
    names: frozenset[Names] = frozenset({Names.STRIMZI_JMX})
    detail: Detail = Detail.PARTITION
    labels: tuple[tuple[str, str], ...] = ()
    otlp: OtlpConfig | None = None

    def with_environment(self, environment: Mapping[str, str]) -> MetricsConfig:
        """With the labels of the environment, which take precedence, and its listener, if the file has none.
        Raises ConfigError."""
        text = environment.get(LABELS_VARIABLE, "").strip()
        try:
            constant_labels.require(parse_list(text))
        except InvalidValue as invalid:
            raise ConfigError(
                f"{LABELS_VARIABLE}: expected {invalid.expected}, found {text!r}"
            ) from None
        merged = {**dict(self.labels), **_labels(parse_list(text))}
        listener = self.listener or _listener_of(environment)
        return replace(self, labels=tuple(merged.items()), listener=listener)


def read_metrics_config(top: TypedSettings) -> MetricsConfig:
    """A bad value is reported by `value_problems`."""
    return MetricsConfig(
        listener=_listener(top.text("metrics.listener")),
        names=frozenset(map(Names, _items(top, "metrics.names"))),
        detail=Detail(top.text("metrics.detail")),
        labels=tuple(_labels(_items(top, "metrics.labels")).items()),
        otlp=_otlp(top),
    )


def _otlp(top: TypedSettings) -> OtlpConfig | None:
    endpoint = top.text("otel.exporter.otlp.endpoint")
    if not endpoint:
        return None
    pairs = (
        each.partition("=")
        for each in top.text("otel.exporter.otlp.headers").split(",")
        if each.strip()
    )
    return OtlpConfig(
        endpoint=endpoint,
        headers=tuple((name.strip().lower(), Secret(value.strip())) for name, _, value in pairs),
        interval_seconds=top.number("otel.metric.export.interval") / 1000,
    )


def _items(top: TypedSettings, name: str) -> tuple[str, ...]:
    value = top.value(name)
    return value if isinstance(value, tuple) else ()


def _labels(items: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (item.partition("=") for item in items)}


def _listener_of(environment: Mapping[str, str]) -> tuple[str, int] | None:
    text = environment.get(LISTENER_VARIABLE, "").strip()
    found = _listener(text)
    if text and found is None:
        raise ConfigError(f"{LISTENER_VARIABLE}: expected http://HOST:PORT, found {text!r}")
    return found


def _listener(text: str) -> tuple[str, int] | None:
    match = _ADDRESS.fullmatch(text)
    return None if match is None else (match[1], int(match[2]))
