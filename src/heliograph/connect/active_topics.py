"""Records which topics connectors write to (KIP-558): once per topic, and again after a reset."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from heliograph.config.mirror_config import Heartbeats
from heliograph.connect.status_log import StatusLog
from heliograph.mm2.connect.status import TopicStatusRecord
from heliograph.runtime.connectors.running_connector import RunningConnector
from heliograph.runtime.progress import Progress


class ActiveTopics:
    """Thread-safe. All methods raise ClientError."""

    def __init__(self, statuses: StatusLog, progress: Progress) -> None:
        self._statuses = statuses
        self._progress = progress
        self._lock = threading.Lock()
        self._now: dict[str, dict[str, int]] = {}  # records written, by connector and topic
        self._at_reset: dict[str, dict[str, int]] = {}

    def write(self, running: Iterable[RunningConnector]) -> None:
        now_ms = int(time.time() * 1000)
        news = []
        with self._lock:
            for connector in running:
                name = connector.job.name
                counts = self._now[name] = self._counts(connector)
                before, known = self._at_reset.get(name, {}), self._statuses.topics(name)
                news += [
                    TopicStatusRecord(topic, name, 0, now_ms)
                    for topic, count in counts.items()
                    if count > before.get(topic, 0) and topic not in known
                ]
        self._statuses.write(news)

    def reset(self, name: str) -> None:
        with self._lock:
            self._at_reset[name] = self._now.get(name, {})
        topics = self._statuses.topics(name)
        self._statuses.write([TopicStatusRecord(topic, name) for topic in topics])

    def forget(self, name: str) -> None:
        """The connector was deleted."""
        self.reset(name)
        with self._lock:
            self._at_reset.pop(name, None)
            self._now.pop(name, None)

    def _counts(self, connector: RunningConnector) -> dict[str, int]:
        settings = connector.job.settings
        if isinstance(settings, Heartbeats):
            return {settings.topic.name: connector.heartbeats_emitted}
        if connector.groups is not None and settings.checkpoints is not None:
            return {settings.checkpoints.topic.name: connector.groups.emitted}
        return {
            settings.target_topic(each.topic): each.records
            for each in self._progress.topics()
            if each.flow == settings.name
        }
