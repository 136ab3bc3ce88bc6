"""The metrics of MM2's own registry: MirrorSourceConnector by partition, MirrorCheckpointConnector by group.

`topic` is the remote topic, as in MM2. Every series is a gauge, as the exporters type them. Times are in
milliseconds, over Kafka's window of up to 60 s; NaN if nothing was copied in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from heliograph.config.metrics_config import Names
from heliograph.metrics.detail import Row
from heliograph.metrics.families import Families
from heliograph.metrics.snapshot import FlowFigures
from heliograph.metrics.table import Kind, Metric
from heliograph.metrics.windows import Spread

_SOURCE = "kafka_connect_mirror_mirrorsourceconnector"
_SOURCE_MSK = "kafka_connect_mirror_source_connector"
_CHECKPOINT = "kafka_connect_mirror_mirrorcheckpointconnector"
_CHECKPOINT_MSK = "kafka_connect_mirror_checkpoint_connector"
_STRIMZI = (Names.STRIMZI_JMX, Names.STRIMZI_REPORTER)

_VALUES: tuple[tuple[str, str, Callable[[Row], float]], ...] = (
    ("record_count", "Records mirrored", lambda row: row.records),
    ("record_rate", "Records mirrored per second", lambda row: row.rates.records),
    ("byte_count", "Bytes of mirrored batches", lambda row: row.bytes),
    ("byte_rate", "Bytes of mirrored batches per second", lambda row: row.rates.bytes),
)
_SPREADS: tuple[tuple[str, str, Callable[[Row], Spread]], ...] = (
    ("record_age_ms", "Age of records when they are fetched", lambda row: row.age),
    ("replication_latency_ms", "Time until records are on the target", lambda row: row.latency),
)
_PARTS = (("", "newest"), ("_avg", "mean"), ("_min", "least"), ("_max", "most"))


def add_mirror(
    families: Families,
    rows: Sequence[Row],
    flows: Mapping[str, FlowFigures],
    names: Collection[Names],
) -> None:
    if any(each in names for each in _STRIMZI):
        names_of = ("source", "target", "topic", "partition")
        _add_source(families, rows, _SOURCE, names_of, _aliases(flows))
    if Names.MSK in names:
        _add_source(
            families, rows, _SOURCE_MSK, ("destination", "topic", "partition"), _destinations(flows)
        )


def _aliases(flows: Mapping[str, FlowFigures]) -> dict[str, tuple[str, ...]]:
    return {name: (flow.source, flow.target) for name, flow in flows.items()}


def _destinations(flows: Mapping[str, FlowFigures]) -> dict[str, tuple[str, ...]]:
    return {name: (flow.target,) for name, flow in flows.items()}


def _add_source(
    families: Families,
    rows: Sequence[Row],
    prefix: str,
    names: tuple[str, ...],
    aliases: Mapping[str, tuple[str, ...]],
) -> None:
    texts: list[str] = []
    for name, help, value in _VALUES:
        family = families.of(Metric(f"{prefix}_{name}", Kind.GAUGE, "", help, names))
        texts = texts or family.texts(
            (*aliases[row.flow], row.remote_topic, row.partition) for row in rows
        )
        family.add_column(texts, map(value, rows))
    for name, help, spread in _SPREADS:
        spreads = [_milliseconds(spread(row)) for row in rows]
        for index, (suffix, what) in enumerate(_PARTS):
            metric = Metric(
                f"{prefix}_{name}{suffix}",
                Kind.GAUGE,
                "",
                f"{help}, in milliseconds: {what}",
                names,
            )
            families.of(metric).add_column(texts, [values[index] for values in spreads])


def add_checkpoints(
    families: Families,
    flows: Iterable[FlowFigures],
    names: Collection[Names],
    quoted: Callable[[str], str],
) -> None:
    """A series of every group and partition, each with its own values. MM2 has one sensor for all."""
    tables: list[tuple[str, tuple[str, ...]]] = []
    if any(each in names for each in _STRIMZI):
        tables.append((_CHECKPOINT, ("source", "target", "group", "topic", "partition")))
    if Names.MSK in names:
        tables.append((_CHECKPOINT_MSK, ("destination", "group", "topic", "partition")))
    for prefix, labels in tables:
        quotes = prefix == _CHECKPOINT_MSK or Names.STRIMZI_JMX in names
        for flow in flows:
            aliases = (flow.target,) if "destination" in labels else (flow.source, flow.target)
            for (group, topic, partition), spread in _latencies(flow):
                shown = quoted(group) if quotes else group
                for (suffix, what), value in zip(_PARTS, _milliseconds(spread), strict=True):
                    help = f"Time until a checkpoint is written, in milliseconds: {what}"
                    metric = Metric(
                        f"{prefix}_checkpoint_latency_ms{suffix}", Kind.GAUGE, "", help, labels
                    )
                    families.of(metric).add((*aliases, shown, topic, str(partition)), value)


def _latencies(flow: FlowFigures) -> Iterable[tuple[tuple[str, str, int], Spread]]:
    return () if flow.groups is None else flow.groups.latencies.items()


def _milliseconds(spread: Spread) -> tuple[float, float, float, float]:
    last, mean, least, most = spread
    return last * 1000, mean * 1000, least * 1000, most * 1000
