"""The text of a scrape: Prometheus' format or OpenMetrics, as the Accept header asks.

The text is that of prometheus-client, byte for byte (tests/unit/metrics/test_exposition.py). Its encoders
check and write the labels of every sample anew, which takes four times as long as this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prometheus_client.core import Metric as ClientFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

from heliograph.config.metrics_config import MetricsConfig
from heliograph.metrics.detail import rows
from heliograph.metrics.families import Families, Family, LabelTexts
from heliograph.metrics.own import add_own
from heliograph.metrics.snapshot import Snapshot
from heliograph.metrics.table import Kind
from heliograph.metrics.vocabularies.compatible import add_compatible

_OPENMETRICS = "application/openmetrics-text"
#: Numbers between these are written as Python writes them; larger ones get an exponent, as in Go.
_PLAIN = 1_000_000
_LEAST = -1e308


class Exposed(NamedTuple):
    text: bytes
    content_type: str


class Exposition:
    """For one thread at a time."""

    def __init__(self, config: MetricsConfig) -> None:
        self._config = config
        self._texts: LabelTexts = {}

    def families(self, snapshot: Snapshot) -> list[Family]:
        config, families = self._config, Families(self._config.labels, self._texts)
        shown = rows(snapshot.partitions, config.detail)
        add_own(families, snapshot, shown)
        if config.names:
            add_compatible(families, snapshot, shown, config.names)
        self._texts = families.texts
        return families.all()

    def expose(
        self, snapshot: Snapshot, accept: str = "", more: Iterable[ClientFamily] = ()
    ) -> Exposed:
        """`more`: families that the snapshot does not have, such as those of the process; written by
        prometheus-client."""
        encode, content_type = choose_encoder(accept)
        lines = _lines(self.families(snapshot), content_type.startswith(_OPENMETRICS))
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Once(_labelled(more, dict(self._config.labels))))
        return Exposed("".join(lines).encode() + encode(registry), content_type)


def expose(
    snapshot: Snapshot, config: MetricsConfig, accept: str = "", more: Iterable[ClientFamily] = ()
) -> Exposed:
    """One scrape alone."""
    return Exposition(config).expose(snapshot, accept, more)


def _lines(families: Iterable[Family], openmetrics: bool) -> Iterator[str]:
    for family in families:
        counts = family.kind is Kind.COUNTER and not openmetrics
        name = f"{family.name}_total" if counts else family.name
        yield f"# HELP {name} {_escaped(family.help, openmetrics)}\n"
        yield f"# TYPE {name} {family.kind}\n"
        if family.unit and openmetrics:
            yield f"# UNIT {name} {family.unit}\n"
        for suffix, labels, value in family.samples:
            # As floatToGoString, which only writes numbers of a million or more otherwise.
            if type(value) is float and _LEAST < value < _PLAIN:
                shown = repr(value)
            elif type(value) is int and -_PLAIN < value < _PLAIN:
                shown = f"{value}.0"
            else:
                shown = _number(value)
            if labels:
                yield f"{family.name}{suffix}{{{labels}}} {shown}\n"
            else:
                yield f"{family.name}{suffix} {shown}\n"


def _number(value: float) -> str:
    return str(floatToGoString(float(value)))  # type: ignore[no-untyped-call]


def _escaped(help: str, openmetrics: bool) -> str:
    escaped = help.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if openmetrics else escaped


class _Once(Collector):
    def __init__(self, families: Iterable[ClientFamily]) -> None:
        self._families = families

    def collect(self) -> Iterable[ClientFamily]:
        return self._families


def _labelled(families: Iterable[ClientFamily], constant: dict[str, str]) -> Iterator[ClientFamily]:
    for family in families:
        if constant:
            family.samples = [
                sample._replace(labels={**sample.labels, **constant}) for sample in family.samples
            ]
        yield family
