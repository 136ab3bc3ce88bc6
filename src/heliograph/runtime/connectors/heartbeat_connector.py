"""Writes the heartbeats of one pair of clusters, in a thread of its own, as MirrorHeartbeatConnector does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import Heartbeats
from heliograph.runtime.connectors.schedule import Schedule
from heliograph.runtime.problems import Problems
from heliograph.sync.heartbeats import HeartbeatSync


class PairHeartbeats:
    def __init__(
        self,
        config: Heartbeats,
        target: ClusterClient,
        problems: Problems,
        stop: threading.Event,
        *,
        offsets: ClusterClient | None = None,
        begun: Callable[[], None],
    ) -> None:
        """`begun` is called when the first heartbeat is written: its topic may be new."""
        self.emitted = 0
        self._clients = [target] if offsets is None else [target, offsets]
        self._begun = begun
        self._sync = HeartbeatSync(config, target, offsets)
        name = config.name
        self._schedule = Schedule(f"{name} heartbeats", problems, stop)
        self._schedule.every(config.interval_seconds, f"{name}: heartbeats", self._emit)

    def start(self) -> None:
        self._schedule.start()

    def emit_once(self) -> None:
        self._schedule.run_all()

    def close(self, timeout: float) -> None:
        self._schedule.join(timeout)
        for client in self._clients:
            client.close()

    def _emit(self) -> Mapping[str, str]:
        problems = self._sync.emit(int(time.time() * 1000))
        self.emitted += not problems
        if self.emitted == 1:
            self._begun()
        return problems
