"""Reads and writes a Connect cluster's status topic. Upstream: KafkaStatusBackingStore."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import InternalTopic
from heliograph.connect.storage_topic import ensure_storage_topic
from heliograph.mm2.connect.offsets import murmur2_partition
from heliograph.mm2.connect.status import (
    ConnectorStatusRecord,
    Status,
    StatusRecord,
    StatusState,
    TaskStatusRecord,
    TopicStatusRecord,
    read_status_record,
)
from heliograph.mm2.malformed import Malformed
from heliograph.records.decode import Record

log = logging.getLogger(__name__)

_PATIENCE_SECONDS = 10.0


class StatusLog:
    """Thread-safe. `cluster` is a client of its own. All methods raise ClientError."""

    def __init__(self, cluster: ClusterClient, topic: InternalTopic) -> None:
        self._cluster = cluster
        self._topic = topic
        self._tails: list[LogTail] = []
        self._writer = RecordWriter(cluster, topic.name)
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[str, dict[int, Status]] = {}
        self._topics: dict[str, dict[str, TopicStatusRecord]] = {}

    def open(self) -> None:
        """Creates the topic if it is missing, and reads it."""
        with self._lock:
            option = "status.storage.replication.factor"
            count = ensure_storage_topic(self._cluster, self._topic, option)
            name = self._topic.name
            self._tails = [LogTail(self._cluster, name, number) for number in range(count)]
            self._read()

    def refresh(self, max_age: float = 0.0) -> None:
        """Reads new records, unless the last read is younger than `max_age` seconds."""
        with self._lock:
            if time.monotonic() - self._read_at >= max_age:
                self._read()

    def write(
        self, records: Iterable[StatusRecord], *, patience: float = _PATIENCE_SECONDS
    ) -> None:
        with self._lock:
            now_ms = int(time.time() * 1000)
            by_partition: dict[int, list[Record]] = {}
            written = list(records)
            for each in written:
                key = each.key()
                number = murmur2_partition(key, len(self._tails))
                record = Record(timestamp=now_ms, key=key, value=each.value())
                by_partition.setdefault(number, []).append(record)
            if written:
                self._writer.write(by_partition, patience=patience)
            for each in written:
                self._apply(each)

    def connectors(self) -> set[str]:
        return set(self._connectors)

    def connector(self, name: str) -> Status | None:
        return self._connectors.get(name)

    def tasks(self, name: str) -> dict[int, Status]:
        with self._lock:
            return dict(sorted(self._tasks.get(name, {}).items()))

    def topics(self, name: str) -> dict[str, TopicStatusRecord]:
        """Topics the connector has written to since its tasks started or the topics were reset."""
        with self._lock:
            return dict(self._topics.get(name, {}))

    def topic_connectors(self) -> set[str]:
        with self._lock:
            return {name for name, topics in self._topics.items() if topics}

    def close(self) -> None:
        self._cluster.close()

    def _read(self) -> None:
        for tail in self._tails:
            for record in tail.read_new(patience=_PATIENCE_SECONDS):
                found = read_status_record(record.key, record.value)
                if isinstance(found, Malformed):
                    log.warning("%s: skipping a record: %s", self._topic.name, found.reason)
                else:
                    self._apply(found)
        self._read_at = time.monotonic()

    def _apply(self, record: StatusRecord) -> None:
        match record:
            case ConnectorStatusRecord(name, None):
                self._connectors.pop(name, None)
                self._tasks.pop(name, None)
            case ConnectorStatusRecord(name, status):
                assert status is not None
                self._connectors[name] = status
            case TaskStatusRecord(name, task, None):
                self._tasks.get(name, {}).pop(task, None)
            case TaskStatusRecord(name, task, status):
                assert status is not None
                tasks = self._tasks.setdefault(name, {})
                if not _is_stale(status, tasks.get(task)):
                    tasks[task] = status
            case TopicStatusRecord(topic, name, None):
                self._topics.get(name, {}).pop(topic, None)
            case TopicStatusRecord(topic, name):
                self._topics.setdefault(name, {})[topic] = record


def _is_stale(status: Status, known: Status | None) -> bool:
    """The previous worker of a task may write UNASSIGNED after its successor wrote RUNNING."""
    return (
        status.state is StatusState.UNASSIGNED
        and known is not None
        and known.state is StatusState.RUNNING
        and known.generation > status.generation
    )
