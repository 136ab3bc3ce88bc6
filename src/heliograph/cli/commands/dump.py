"""`heliograph dump`: prints the records of internal topics as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import typer

from heliograph.cli.choices import Kind
from heliograph.cli.cluster_options import cluster_at, log_warnings_to_stderr, warn
from heliograph.cli.output.escaping import visible, visible_json
from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.log_reader import read_between
from heliograph.client.net.cluster import ClusterClient
from heliograph.counted import counted
from heliograph.errors import ConfigError, NotFound
from heliograph.mm2.checkpoint import read_checkpoint
from heliograph.mm2.heartbeat import read_heartbeat
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_sync import read_offset_sync
from heliograph.mm2.state_records import state_topic
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.policy.naming import ReplicationPolicy
from heliograph.records.decode import Record

#: A busy flow may have millions of offset syncs before compaction.
_PATIENCE_SECONDS = 600.0


class Content(Protocol):
    """The content of a record; `str` gives one line of text."""

    def _asdict(self) -> Mapping[str, Any]: ...


Reader = Callable[[bytes | None, bytes | None], Content | Malformed]


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A record of Connect or of Heliograph, whose key and value are JSON; None is a tombstone."""

    key: Any
    value: Any

    def _asdict(self) -> Mapping[str, Any]:
        return {"key": self.key, "value": self.value}

    def __str__(self) -> str:
        return f"{_compact(self.key)} {_compact(self.value)}"


def dump(
    kind: Kind,
    bootstrap_server: str,
    command_config: Path | None,
    *,
    topic: str | None,
    source: str | None,
    as_json: bool,
    verbose: bool,
) -> int:
    """Prints a line per record in log order to standard output, and skipped records to standard error."""
    log_warnings_to_stderr()
    config = cluster_at(bootstrap_server, command_config)
    name = topic or _topic(kind, source, config.policy)
    printer = _Printer(_READERS[kind], as_json=as_json, verbose=verbose)
    cluster = ClusterClient(config.consumer, client_id="heliograph-dump")
    try:
        partitions = _partitions(cluster, name)
        starts = list_offsets(cluster, partitions, EARLIEST)
        ends = list_offsets(cluster, partitions, LATEST, IsolationLevel.READ_COMMITTED)
        read_between(cluster, starts, ends, printer.show, patience=_PATIENCE_SECONDS)
    finally:
        cluster.close()
    if printer.malformed:
        warn(f"{name}: {counted(printer.malformed, 'record')} could not be decoded")
    return 0


class _Printer:
    def __init__(self, read: Reader, *, as_json: bool, verbose: bool) -> None:
        self.malformed = 0
        self._read = read
        self._as_json = as_json
        self._verbose = verbose

    def show(self, partition: TopicPartition, records: list[Record]) -> None:
        for record in records:
            content = self._read(record.key, record.value)
            if isinstance(content, Malformed):
                self.malformed += 1
                warn(f"{partition} offset {record.offset}: skipped: {content.reason}")
            else:
                line = self._line(partition, record, content)
                typer.echo(visible_json(line) if self._as_json else visible(line))

    def _line(self, partition: TopicPartition, record: Record, content: Content) -> str:
        if self._as_json:
            place = {
                "topic": partition.topic,
                "partition": partition.partition,
                "offset": record.offset,
                "timestamp": record.timestamp,
            }
            return _compact({**place, "record": content._asdict()})
        if self._verbose:
            return f"{partition} offset {record.offset} timestamp {record.timestamp}: {content}"
        return str(content)


def _topic(kind: Kind, source: str | None, policy: ReplicationPolicy) -> str:
    if kind is Kind.HEARTBEATS:
        topic = policy.heartbeats_topic()
        return topic if source is None else policy.format_remote_topic(source, topic)
    if kind is Kind.OFFSET_SYNCS and source is None:
        raise ConfigError(
            "dump offset-syncs: expected --topic NAME: mm2-offset-syncs.<target>.internal on the source, or, "
            "with offset-syncs.topic.location=target, mm2-offset-syncs.<source>.internal on the target"
        )
    if source is None:
        raise ConfigError(f"dump {kind}: expected --source ALIAS or --topic NAME")
    return {
        Kind.CHECKPOINTS: policy.checkpoints_topic,
        Kind.OFFSET_SYNCS: policy.offset_syncs_topic,
        Kind.OFFSETS: "mm2-offsets.{}.internal".format,
        Kind.STATE: state_topic,
    }[kind](source)


def _partitions(cluster: ClusterClient, topic: str) -> list[TopicPartition]:
    count = cluster.refresh([topic]).partitions.get(topic)
    if not count:
        raise NotFound(
            f"{topic}: not found on {cluster.config.alias}, or this client may not describe it"
        )
    return [TopicPartition(topic, number) for number in range(count)]


def _read_json(key: bytes | None, value: bytes | None) -> JsonRecord | Malformed:
    try:
        return JsonRecord(
            None if key is None else json.loads(key.decode()),
            None if value is None else json.loads(value.decode()),
        )
    except (ValueError, RecursionError) as problem:
        return Malformed(f"not JSON in UTF-8: {problem}")


def _compact(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


_READERS: Mapping[Kind, Reader] = {
    Kind.CHECKPOINTS: read_checkpoint,
    Kind.HEARTBEATS: read_heartbeat,
    Kind.OFFSET_SYNCS: read_offset_sync,
    Kind.OFFSETS: _read_json,
    Kind.STATE: _read_json,
}
