"""A connector that this service runs: its clients, threads and schedules, except for the copy itself.

It starts when this service becomes the leader or the connector is assigned, and ends when the leadership is
lost, the connector is changed or removed, or the service stops. Nothing is kept for the next time: what
another service did in between is read from the clusters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import FlowConfig, Heartbeats
from heliograph.mm2.state_records import PAUSED, STOPPED
from heliograph.model import ClientKind, Copied, Receipt
from heliograph.runtime.connectors.checkpoint_connector import CheckpointConnector
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part
from heliograph.runtime.connectors.heartbeat_connector import PairHeartbeats
from heliograph.runtime.connectors.schedule import Schedule, time_left
from heliograph.runtime.connectors.source_connector import SourceConnector
from heliograph.runtime.epoch.fencing import Fencing, LeaderSeat
from heliograph.runtime.flow.cycle_guard import CycleGuard
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress

_OFFSETS_ROLE = "offsets-admin"
#: How often the flow's observer runs; mostly it only checks the time. After a failure the copy waits for it.
_KEEP_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeContext:
    """What the connectors of one service share. `internal_topics_seen(job)`: whether the connector that
    copies between the same clusters, if there is one, has created their internal topics.
    `heartbeats_begun(pair)`: called when the first heartbeat of a pair is written."""

    guard: CycleGuard
    progress: Progress
    problems: Problems
    seat: LeaderSeat
    since_ms: int
    slots: int
    internal_topics_seen: Callable[[ConnectorSpec], bool]
    heartbeats_begun: Callable[[Heartbeats], None]


class RunningConnector:
    """Has its own threads; in a bounded run the caller's thread does the work. `over` ends the threads.

    A connector that copies has a `flow`, which tasks work on: once it is `leaving`, it ends only when the
    driver has `released` it.
    """

    def __init__(self, job: ConnectorSpec, around: RuntimeContext) -> None:
        self.job = job
        self.over = threading.Event()
        self.leaving = False
        self._last_state = STOPPED
        self.released = threading.Event()
        self.closed = threading.Event()
        self.flow: ObservedFlow | None = None
        self.groups: CheckpointConnector | None = None
        self.clients: list[ClusterClient] = []
        self._around = around
        self._lock = threading.Lock()
        self._closing = False
        self._keeper: Schedule | None = None
        self._source_connector: SourceConnector | None = None
        self._heartbeats: PairHeartbeats | None = None
        self._take_up(job)

    def start(self) -> None:
        for part in (self._heartbeats, self._keeper, self._source_connector, self.groups):
            if part is not None:
                part.start()

    def before_copying(self) -> None:
        """In a bounded run: what comes before the copy, once the flow is observed."""
        if self._heartbeats is not None:
            self._heartbeats.emit_once()
        if self._source_connector is not None:
            self._source_connector.before_copying()

    def after_copying(self) -> None:
        if self.groups is not None:
            self.groups.run_once()

    @property
    def fatal_error(self) -> str | None:
        """An error that does not pass by waiting."""
        for part in (self.flow, self.groups):
            if part is not None and part.fatal_error is not None:
                return str(part.fatal_error)
        return None

    @property
    def heartbeats_emitted(self) -> int:
        return 0 if self._heartbeats is None else self._heartbeats.emitted

    @property
    def internal_topics_seen(self) -> bool:
        return self._source_connector is None or self._source_connector.internal_topics_seen

    def learn(self, receipts: Sequence[Receipt]) -> list[Copied]:
        """Process receipts; returns the new ranges of the offset map. For any thread."""
        if self._source_connector is None or self.flow is None:
            return []
        name = self.flow.config.name
        own = [receipt for receipt in receipts if receipt.flow == name]
        copied = self.flow.copied(own)  # first: gaps in the receipts may begin another generation
        self._source_connector.learn(own)
        return copied

    def leave(self, *, paused: bool = False) -> None:
        """End this connector. One that copies waits until the driver has released its flow."""
        self._last_state = PAUSED if paused else STOPPED
        self.leaving = True
        if self.flow is None:
            self.released.set()

    def close(self, timeout: float, *, goodbye: bool) -> None:
        """`goodbye`: write that the flow has stopped, or is paused; false if another service may run it
        already."""
        with self._lock:
            closing, self._closing = self._closing, True
        if closing:
            self.closed.wait(timeout)
            return
        self.over.set()
        left = time_left(timeout)
        if self._keeper is not None:
            self._keeper.join(left())
        if self._source_connector is not None:
            self._source_connector.close(left(), self._last_state if goodbye else None)
        for part in (self.groups, self._heartbeats):
            if part is not None:
                part.close(left())
        if self.flow is not None:
            self.flow.close()
        self._around.problems.forget(self.job.area)
        self.closed.set()

    # ── its parts ────────────────────────────────────────────────────────────────────────────

    def _take_up(self, job: ConnectorSpec) -> None:
        settings = job.settings
        if isinstance(settings, Heartbeats):
            self._heartbeats = self._pair_heartbeats(settings)
        elif job.part is Part.CHECKPOINTS:
            self.groups = self._checkpoint_connector(settings)
        else:
            around = self._around
            self.flow = self._observed(settings)
            self._keeper = self._keeper_of(self.flow)
            self._source_connector = SourceConnector(
                self.flow,
                self._client,
                around.progress,
                around.problems,
                self.over,
                around.since_ms,
            )

    def _observed(self, flow: FlowConfig) -> ObservedFlow:
        return ObservedFlow(
            flow,
            self._client(flow, flow.source, ClientRole.REPLICATION_SOURCE_ADMIN),
            self._client(flow, flow.target, ClientRole.REPLICATION_TARGET_ADMIN),
            self._around.guard,
            self._fencing(flow) if flow.exactly_once is not None else None,
            offsets=self._offsets_client(flow),
            events=self._around.problems.events,
        )

    def _fencing(self, flow: FlowConfig) -> Fencing:
        role = f"{ClientRole.REPLICATION_TARGET_ADMIN}-fencing"
        client = self._client(flow, flow.target, role)
        return Fencing(flow, client, self._around.seat, self._around.slots)

    def _keeper_of(self, flow: ObservedFlow) -> Schedule:
        keeper = Schedule(f"{flow.config.name} topics", self._around.problems, self.over)
        keeper.every(_KEEP_SECONDS, f"flow {flow.config.name}", flow.keep)
        return keeper

    def _checkpoint_connector(self, flow: FlowConfig) -> CheckpointConnector:
        return CheckpointConnector(
            flow,
            self._client(flow, flow.source, ClientRole.CHECKPOINT_SOURCE_ADMIN),
            self._client(flow, flow.target, ClientRole.CHECKPOINT_TARGET_ADMIN),
            self._around.problems,
            self.over,
            lambda: self._around.internal_topics_seen(self.job),
            offsets=self._offsets_client(flow),
        )

    def _pair_heartbeats(self, pair: Heartbeats) -> PairHeartbeats:
        target = self._client(pair, pair.target, ClientRole.HEARTBEATS_TARGET_ADMIN)
        return PairHeartbeats(
            pair,
            target,
            self._around.problems,
            self.over,
            offsets=self._offsets_client(pair),
            begun=lambda: self._around.heartbeats_begun(pair),
        )

    def _offsets_client(self, pair: FlowConfig | Heartbeats) -> ClusterClient | None:
        """A client of the cluster with the offsets topic, if that is not the target."""
        if pair.offsets_alias == pair.target:
            return None
        return self._client(pair, pair.offsets_alias, _OFFSETS_ROLE)

    def _client(self, pair: FlowConfig | Heartbeats, alias: str, role: str) -> ClusterClient:
        name = self.job.connector_name
        cluster = self.job.cluster(alias)
        client = ClusterClient(
            cluster.for_client(next(kind for kind in ClientKind if kind in role.split("-"))),
            client_id=client_id(pair.source, pair.target, name, role=role),
            stopped=self.over.is_set,
        )
        self.clients.append(client)
        return client
