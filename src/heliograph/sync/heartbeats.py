"""Writes heartbeats of a pair of clusters to the target."""

from __future__ import annotations

import logging

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import Heartbeats
from heliograph.mm2.connect.offsets import (
    UNUSED_OFFSET_VALUE,
    heartbeat_offset_key,
    murmur2_partition,
)
from heliograph.mm2.heartbeat import Heartbeat
from heliograph.plan.internal_topics import heartbeat_topics, worker_topics
from heliograph.records.decode import Record
from heliograph.sync.internal_topics import ensure_internal_topic

log = logging.getLogger(__name__)


class HeartbeatSync:
    """As `MirrorHeartbeatTask`, whether or not the pair's flow is enabled. For one thread. `offsets` is the
    cluster of stored offsets, if that is not the target."""

    def __init__(
        self, config: Heartbeats, target: ClusterClient, offsets: ClusterClient | None = None
    ) -> None:
        self._config = config
        self._clusters = {config.offsets_alias: offsets or target, config.target: target}
        self._heartbeats = RecordWriter(target, config.topic.name)
        self._offsets = RecordWriter(offsets or target, config.offsets_topic.name)
        self._prepared = False

    def emit(self, now_ms: int) -> dict[str, str]:
        """Write one heartbeat; returns problems by topic if that is not possible."""
        if not self._prepared:
            problems = self._ensure_topics()
            if problems:
                return problems
            self._store_offset(now_ms)
            self._ensure_worker_topics()
            self._prepared = True
        beat = Heartbeat(self._config.source, self._config.target, now_ms)
        record = Record(timestamp=now_ms, key=beat.key(), value=beat.value())
        self._heartbeats.write({0: [record]})
        return {}

    def _ensure_topics(self) -> dict[str, str]:
        problems = {}
        for placed in heartbeat_topics(self._config):
            problem = ensure_internal_topic(self._clusters[placed.alias], placed)
            if problem is not None:
                problems[placed.topic.name] = problem
        return problems

    def _ensure_worker_topics(self) -> None:
        """Heartbeats do without these topics, so that one which cannot be created is no problem."""
        for placed in worker_topics(self._config):
            problem = ensure_internal_topic(self._clusters[placed.alias], placed)
            if problem is not None:
                log.info("%s: %s; heartbeats do without it", self._config.name, problem)

    def _store_offset(self, now_ms: int) -> None:
        """Store the offset that a Connect worker would store for a heartbeat connector; it is not used."""
        config = self._config
        key = heartbeat_offset_key(config.connector_name, config.source, config.target)
        record = Record(timestamp=now_ms, key=key, value=UNUSED_OFFSET_VALUE)
        self._offsets.write({murmur2_partition(key, self._offsets.partitions()): [record]})
