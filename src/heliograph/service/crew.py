"""Everyone who works beside the copy: what observes flows, what keeps up their surroundings, heartbeats."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from heliograph.client.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import FlowConfig, Heartbeats, MirrorConfig
from heliograph.model import Receipt
from heliograph.service.fencing import Fencing
from heliograph.service.flow import ObservedFlow
from heliograph.service.heartbeats import PairHeartbeats
from heliograph.service.loop_guard import LoopGuard
from heliograph.service.problems import Problems
from heliograph.service.progress import Progress
from heliograph.service.schedule import Schedule
from heliograph.service.upkeep import Upkeep

_KEEP_SECONDS = 1.0


class Crew:
    """Threads of their own for each flow and each pair, or, in a bounded run, the caller's."""

    def __init__(
        self,
        config: MirrorConfig,
        progress: Progress,
        problems: Problems,
        stop: threading.Event,
        slots: int,
    ) -> None:
        self._config = config
        self._slots = slots
        self._problems = problems
        self._stop = stop
        since_ms = int(time.time() * 1000)
        guard = LoopGuard(config.flows, since_ms)
        self.flows = [self._observed(flow, guard) for flow in config.flows]
        self._keepers = [self._keeper(flow) for flow in self.flows]
        self._upkeep = {
            flow.config.name: Upkeep(flow, self._client, progress, problems, stop, since_ms)
            for flow in self.flows
        }
        self._heartbeats = [self._pair_heartbeats(pair) for pair in config.heartbeats]

    def start(self) -> None:
        for heartbeats in self._heartbeats:
            heartbeats.start()
        for keeper in self._keepers:
            keeper.start()
        for upkeep in self._upkeep.values():
            upkeep.start()

    def before_copying(self) -> None:
        """A bounded run's share of it, once its flows are observed."""
        for heartbeats in self._heartbeats:
            heartbeats.emit_once()
        for upkeep in self._upkeep.values():
            upkeep.before_copying()

    def after_copying(self) -> None:
        for upkeep in self._upkeep.values():
            upkeep.after_copying()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """What tasks have copied; from any thread."""
        told = list(receipts)
        for name, upkeep in self._upkeep.items():
            upkeep.learn(receipt for receipt in told if receipt.flow == name)

    def close(self, timeout: float) -> None:
        """Once `stop` is set."""
        for keeper in self._keepers:
            keeper.join(timeout)
        for upkeep in self._upkeep.values():
            upkeep.close(timeout)
        for heartbeats in self._heartbeats:
            heartbeats.close(timeout)
        for flow in self.flows:
            flow.close()

    def _observed(self, flow: FlowConfig, guard: LoopGuard) -> ObservedFlow:
        return ObservedFlow(
            flow,
            self._client(flow, flow.source, ClientRole.REPLICATION_SOURCE_ADMIN),
            self._client(flow, flow.target, ClientRole.REPLICATION_TARGET_ADMIN),
            guard,
            self._fencing(flow) if flow.exactly_once is not None else None,
        )

    def _fencing(self, flow: FlowConfig) -> Fencing:
        role = f"{ClientRole.REPLICATION_TARGET_ADMIN}-fencing"
        return Fencing(flow, self._client(flow, flow.target, role), self._slots)

    def _keeper(self, flow: ObservedFlow) -> Schedule:
        keeper = Schedule(f"{flow.config.name} topics", self._problems, self._stop)
        keeper.every(_KEEP_SECONDS, f"flow {flow.config.name}", flow.keep)
        return keeper

    def _client(self, pair: FlowConfig | Heartbeats, alias: str, role: str) -> ClusterClient:
        return ClusterClient(
            self._config.cluster(alias),
            client_id=client_id(pair.source, pair.target, pair.connector_name, role=role),
            stopped=self._stop.is_set,
        )

    def _pair_heartbeats(self, pair: Heartbeats) -> PairHeartbeats:
        target = self._client(pair, pair.target, ClientRole.HEARTBEATS_TARGET_ADMIN)
        return PairHeartbeats(pair, target, self._problems, self._stop)
