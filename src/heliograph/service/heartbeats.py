"""A thread for every pair's heartbeats: one target that does not answer silences no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from heliograph.client.cluster import ClusterClient
from heliograph.config.mirror_config import Heartbeats
from heliograph.service.problems import Problems
from heliograph.service.schedule import Schedule
from heliograph.sync.heartbeats import HeartbeatSync


class PairHeartbeats:
    def __init__(
        self,
        config: Heartbeats,
        target: ClusterClient,
        problems: Problems,
        stop: threading.Event,
    ) -> None:
        self._target = target
        self._sync = HeartbeatSync(config, target)
        name = f"{config.source}->{config.target}"
        self._schedule = Schedule(f"{name} heartbeats", problems, stop)
        self._schedule.every(config.interval_seconds, f"{name}: heartbeats", self._emit)

    def start(self) -> None:
        self._schedule.start()

    def emit_once(self) -> None:
        self._schedule.run_all()

    def close(self, timeout: float) -> None:
        self._schedule.join(timeout)
        self._target.close()

    def _emit(self) -> Mapping[str, str]:
        return self._sync.emit(int(time.time() * 1000))
