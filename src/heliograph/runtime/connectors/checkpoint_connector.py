"""The jobs of MirrorCheckpointConnector, in one thread: groups, checkpoints, group offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import ClientError
from heliograph.model import Copied
from heliograph.runtime.connectors.schedule import Schedule
from heliograph.runtime.metering.checkpoint_figures import CheckpointFigures
from heliograph.runtime.problems import Problems
from heliograph.sync.checkpoints import CheckpointSync
from heliograph.sync.group_offsets import sync_group_offsets

_PATIENCE_SECONDS = 10.0


class CheckpointConnector:
    """`internal_topics_seen`: whether the source connector has created the topics that checkpoints need."""

    def __init__(
        self,
        flow: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        problems: Problems,
        stop: threading.Event,
        internal_topics_seen: Callable[[], bool],
        *,
        offsets: ClusterClient | None = None,
    ) -> None:
        assert flow.checkpoints is not None
        self.fatal_error: ClientError | None = None  # one that does not pass by waiting
        self.figures = CheckpointFigures()
        self._config = flow.checkpoints
        self._source = source
        self._target = target
        self._clients = [each for each in (source, target, offsets) if each is not None]
        self._checkpoints = CheckpointSync(flow, source, target, offsets)
        self._internal_topics_seen = internal_topics_seen
        self._stop = stop
        self._lock = threading.Lock()
        self._copied: list[Copied] = []
        self._groups: frozenset[str] | None = None
        self._schedule = Schedule(f"{flow.name} groups", problems, stop)
        self._plan(f"flow {flow.name}")

    def start(self) -> None:
        self._schedule.start()

    def run_once(self) -> None:
        """In a bounded run: all jobs once, after everything is copied."""
        self._schedule.run_all()

    @property
    def emitted(self) -> int:
        """Checkpoints written."""
        return self.figures.checkpoints

    @property
    def groups(self) -> frozenset[str] | None:
        """Groups whose offsets are translated; None before the first refresh."""
        return self._groups

    def learn(self, copied: Iterable[Copied]) -> None:
        """New ranges of the offset map between clusters of these aliases; for any thread."""
        with self._lock:
            self._copied += copied

    def close(self, timeout: float) -> None:
        self._schedule.join(timeout)
        for client in self._clients:
            client.close()

    def _plan(self, name: str) -> None:
        config, every = self._config, self._schedule.every
        every(config.refresh_interval_seconds, f"{name}: groups", self._refresh_groups)
        every(config.interval_seconds, f"{name}: checkpoints", self._emit)
        sync = config.sync_interval_seconds
        every(
            sync, f"{name}: group offsets", self._sync_group_offsets, first_after=float(sync or 0)
        )

    def _refresh_groups(self) -> Mapping[str, str]:
        try:
            found = self._checkpoints.refresh_groups()
        except ClientError as e:
            self.fatal_error = None if e.retriable else e
            raise
        self.fatal_error = None
        self._groups = found.followed
        self.figures.followed(found)
        return found.problems | found.unmatched

    def _emit(self) -> Mapping[str, str]:
        self._await_internal_topics()
        for copied in self._take_copied():
            self._checkpoints.learn(copied.partition, copied.ranges, copied.origin)
        now = time.time()
        emitted = self._checkpoints.emit(int(now * 1000))
        self.figures.emitted(emitted, time.time(), time.time() - now)
        return emitted.problems

    def _take_copied(self) -> list[Copied]:
        """Ranges of these clusters only: another connector may use the same aliases for other clusters."""
        with self._lock:
            copied, self._copied = self._copied, []
        if not copied:
            return []
        for client in (self._source, self._target):
            if client.metadata.cluster_id is None:
                client.refresh([])
        source, target = self._source.seen, self._target.seen
        return [c for c in copied if source.is_also(c.source) and target.is_also(c.target)]

    def _sync_group_offsets(self) -> Mapping[str, str]:
        checkpoints, ids = self._checkpoints.checkpoints(), self._checkpoints.topic_ids()
        synced = sync_group_offsets(self._target, checkpoints, ids)
        self.figures.synced(synced)
        return synced.problems

    def _await_internal_topics(self) -> None:
        """The source connector creates them at its start; until then, a missing topic is not a problem."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._internal_topics_seen() and time.monotonic() < deadline:
            if self._stop.wait(0.1):
                return
