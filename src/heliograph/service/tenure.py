"""One term of a pair of clusters with this service: all that works for it beside the copy.

It begins when the service is the one that runs the pair, and ends when it is not, or stops. Nothing is
carried over from one term to the next: what another service did in between is read from the clusters.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from heliograph.client.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import FlowConfig, Heartbeats, MirrorConfig
from heliograph.model import ClientKind, Receipt
from heliograph.service.fencing import Fencing
from heliograph.service.flow import ObservedFlow
from heliograph.service.heartbeats import PairHeartbeats
from heliograph.service.loop_guard import LoopGuard
from heliograph.service.problems import Problems
from heliograph.service.progress import Progress
from heliograph.service.schedule import Schedule
from heliograph.service.upkeep import Upkeep

#: Mostly a look at the clock. After a failure the copy waits for it.
_KEEP_SECONDS = 0.25


class Tenure:
    """Threads of their own for the flow, if the pair has one, and for heartbeats; or, in a bounded run,
    the caller's. `over` ends them all."""

    def __init__(
        self,
        config: MirrorConfig,
        pair: tuple[str, str],
        guard: LoopGuard,
        progress: Progress,
        problems: Problems,
        *,
        since_ms: int,
        slots: int,
    ) -> None:
        self.over = threading.Event()
        self._config = config
        self._problems = problems
        self._slots = slots
        self.flow: ObservedFlow | None = None
        self._keeper: Schedule | None = None
        self._upkeep: Upkeep | None = None
        for flow in config.flows:
            if (flow.source, flow.target) == pair:
                self.flow = self._observed(flow, guard)
                self._keeper = self._keeper_of(self.flow)
                self._upkeep = Upkeep(
                    self.flow, self._client, progress, problems, self.over, since_ms
                )
        self._heartbeats = [
            self._pair_heartbeats(each)
            for each in config.heartbeats
            if (each.source, each.target) == pair
        ]

    def start(self) -> None:
        for heartbeats in self._heartbeats:
            heartbeats.start()
        if self._keeper is not None:
            self._keeper.start()
        if self._upkeep is not None:
            self._upkeep.start()

    def before_copying(self) -> None:
        """A bounded run's share of it, once its flow is observed."""
        for heartbeats in self._heartbeats:
            heartbeats.emit_once()
        if self._upkeep is not None:
            self._upkeep.before_copying()

    def after_copying(self) -> None:
        if self._upkeep is not None:
            self._upkeep.after_copying()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """What tasks have copied, of any flow; from any thread."""
        if self._upkeep is not None and self.flow is not None:
            name = self.flow.config.name
            self._upkeep.learn(receipt for receipt in receipts if receipt.flow == name)

    def close(self, timeout: float, *, goodbye: bool) -> None:
        """`goodbye`: say that the flow has stopped, which is nobody's to say once another service runs it."""
        self.over.set()
        if self._keeper is not None:
            self._keeper.join(timeout)
        if self._upkeep is not None:
            self._upkeep.close(timeout, goodbye=goodbye)
        for heartbeats in self._heartbeats:
            heartbeats.close(timeout)
        if self.flow is not None:
            self.flow.close()

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

    def _keeper_of(self, flow: ObservedFlow) -> Schedule:
        keeper = Schedule(f"{flow.config.name} topics", self._problems, self.over)
        keeper.every(_KEEP_SECONDS, f"flow {flow.config.name}", flow.keep)
        return keeper

    def _pair_heartbeats(self, pair: Heartbeats) -> PairHeartbeats:
        target = self._client(pair, pair.target, ClientRole.HEARTBEATS_TARGET_ADMIN)
        return PairHeartbeats(pair, target, self._problems, self.over)

    def _client(self, pair: FlowConfig | Heartbeats, alias: str, role: str) -> ClusterClient:
        cluster = self._config.cluster(alias, f"{pair.source}->{pair.target}")
        return ClusterClient(
            cluster.for_client(next(kind for kind in ClientKind if kind in role.split("-"))),
            client_id=client_id(pair.source, pair.target, pair.connector_name, role=role),
            stopped=self.over.is_set,
        )
