"""Reads a Connect cluster's config topic to its end, and writes to it if this worker leads.

A record counts once it is read back. Upstream: KafkaConfigBackingStore.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import InternalTopic
from heliograph.connect.storage_topic import ensure_storage_topic
from heliograph.errors import ConfigError
from heliograph.mm2.connect.cluster_state import ConfigState
from heliograph.mm2.connect.configs import (
    ConfigRecord,
    LoggerLevelRecord,
    RestartRecord,
    SessionKeyRecord,
    read_config_record,
)
from heliograph.mm2.malformed import Malformed
from heliograph.records.decode import Record

log = logging.getLogger(__name__)

#: `KafkaConfigBackingStore.READ_WRITE_TOTAL_TIMEOUT_MS`
_PATIENCE_SECONDS = 30.0

Request = RestartRecord | LoggerLevelRecord


class ConfigLog:
    """Thread-safe. `cluster` is a client of its own. All methods raise ClientError."""

    def __init__(self, cluster: ClusterClient, topic: InternalTopic) -> None:
        self.state = ConfigState()
        self._cluster = cluster
        self._topic = topic
        self._tail = LogTail(cluster, topic.name)
        self._writer = RecordWriter(cluster, topic.name)
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._read_at = float("-inf")

    @property
    def offset(self) -> int:
        """Behind the last record that was read, -1 if there is none, as in Java."""
        return self._tail.position or -1

    def open(self) -> None:
        """Creates the topic if it is missing, and reads it. Raises ConfigError if it cannot be used."""
        with self._lock:
            option = "config.storage.replication.factor"
            count = ensure_storage_topic(self._cluster, self._topic, option)
            if count > 1:
                raise ConfigError(
                    f"Topic '{self._topic.name}' supplied via the 'config.storage.topic' property is "
                    "required to have a single partition in order to guarantee consistency of connector "
                    f"configurations, but found {count} partitions."
                )
            self._read()
            self._requests = []  # from before this worker started

    def refresh(self, max_age: float = 0.0) -> None:
        """Reads new records, unless the last read is younger than `max_age` seconds."""
        with self._lock:
            if time.monotonic() - self._read_at >= max_age:
                self._read()

    def write(self, records: Sequence[ConfigRecord]) -> None:
        """Returns when the records are read back."""
        with self._lock:
            now_ms = int(time.time() * 1000)
            written = [
                Record(timestamp=now_ms, key=each.key(), value=each.value())
                for each in records
                if not isinstance(each, SessionKeyRecord)
            ]
            self._writer.write({0: written}, patience=_PATIENCE_SECONDS)
            self._read()

    def take_requests(self) -> list[Request]:
        """Requests read since the last call."""
        with self._lock:
            requests, self._requests = self._requests, []
        return requests

    def close(self) -> None:
        self._cluster.close()

    def _read(self) -> None:
        records = self._tail.read_new(patience=_PATIENCE_SECONDS)
        if self._tail.restarted:
            self.state = ConfigState()
        for record in records:
            found = read_config_record(record.key, record.value)
            if isinstance(found, Malformed):
                log.warning("%s: skipping a record: %s", self._topic.name, found.reason)
                continue
            if isinstance(found, Request):
                self._requests.append(found)
            self.state.apply(found)
        self._read_at = time.monotonic()
