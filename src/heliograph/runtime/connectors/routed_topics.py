"""Creates the topics that a lane routes records to. Tasks do not: they report a topic, and wait for it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.model import Receipt
from heliograph.runtime.connectors.schedule import Schedule
from heliograph.runtime.problems import Problems
from heliograph.sync.topics import ensure_routed_topics

_SECONDS = 0.5


class RoutedTopics:
    """Of one flow, in a thread of its own. Nothing is done for flows that do not route."""

    def __init__(
        self,
        flow: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        problems: Problems,
        stop: threading.Event,
    ) -> None:
        self._flow = flow
        self._clients = source, target
        self._lock = threading.Lock()
        self._wanted: dict[str, str] = {}
        self.schedule = Schedule(f"{flow.name} routed topics", problems, stop)
        self.schedule.every(_SECONDS, f"flow {flow.name}: routed topics", self._create)

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """For any thread."""
        quarantine = None if self._flow.quarantine is None else self._flow.quarantine.name
        with self._lock:
            for receipt in receipts:
                if receipt.wanted is not None and receipt.wanted != quarantine:
                    self._wanted.setdefault(receipt.wanted, receipt.topic)

    def _create(self) -> Mapping[str, str]:
        with self._lock:
            wanted = dict(self._wanted)
        if not wanted:
            return {}
        problems = ensure_routed_topics(self._flow, *self._clients, wanted)
        with self._lock:
            self._wanted = {
                t: s for t, s in self._wanted.items() if t not in wanted or t in problems
            }
        return problems

    def close(self, timeout: float) -> None:
        self.schedule.join(timeout)
        for client in self._clients:
            client.close()
