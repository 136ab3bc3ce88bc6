"""One term of a job with this service: all that works for it beside the copy.

It begins when the service is the one that runs the job, and ends when it is not, when the job is taken off or
changed, or at a stop. Nothing is carried over from one term to the next: what another service did in between
is read from the clusters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import FlowConfig, Heartbeats
from heliograph.model import ClientKind, Copied, Receipt
from heliograph.runtime.checkpoint_connector import CheckpointConnector
from heliograph.runtime.connector_spec import ConnectorSpec, Part
from heliograph.runtime.cycle_guard import CycleGuard
from heliograph.runtime.fencing import Fencing, LeaderSeat
from heliograph.runtime.heartbeat_connector import PairHeartbeats
from heliograph.runtime.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.schedule import Schedule, time_left
from heliograph.runtime.source_connector import SourceConnector

_OFFSETS_ROLE = "offsets-admin"
#: Mostly a look at the clock. After a failure the copy waits for it.
_KEEP_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeContext:
    """What the jobs of one service share. `internal_topics_seen(job)`: whether the job that copies between
    the same clusters, if there is one, has seen to their internal topics."""

    guard: CycleGuard
    progress: Progress
    problems: Problems
    seat: LeaderSeat
    since_ms: int
    slots: int
    internal_topics_seen: Callable[[ConnectorSpec], bool]


class RunningConnector:
    """Threads of its own for the job; or, in a bounded run, the caller's. `over` ends them all.

    A job that copies has a `flow`, which is in tasks' hands: once it is `leaving`, its term ends when the
    mirror has `released` it, and not before.
    """

    def __init__(self, job: ConnectorSpec, around: RuntimeContext) -> None:
        self.job = job
        self.over = threading.Event()
        self.leaving = False
        self.released = threading.Event()
        self.closed = threading.Event()
        self.flow: ObservedFlow | None = None
        self.groups: CheckpointConnector | None = None
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
        """A bounded run's share of it, once its flow is observed."""
        if self._heartbeats is not None:
            self._heartbeats.emit_once()
        if self._source_connector is not None:
            self._source_connector.before_copying()

    def after_copying(self) -> None:
        if self.groups is not None:
            self.groups.run_once()

    @property
    def fatal_error(self) -> str | None:
        """Why waiting will not help."""
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
        """What its tasks have told; where they say that records have landed is returned. From any thread."""
        if self._source_connector is None or self.flow is None:
            return []
        name = self.flow.config.name
        own = [receipt for receipt in receipts if receipt.flow == name]
        copied = self.flow.copied(own)  # before what they tell of gaps begins another generation
        self._source_connector.learn(own)
        return copied

    def leave(self) -> None:
        """Its term is to end. What copies waits for the mirror; what does not need not."""
        self.leaving = True
        if self.flow is None:
            self.released.set()

    def close(self, timeout: float, *, goodbye: bool) -> None:
        """`goodbye`: say that the flow has stopped, which is nobody's to say once another service runs it."""
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
            self._source_connector.close(left(), goodbye=goodbye)
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
            pair, target, self._around.problems, self.over, offsets=self._offsets_client(pair)
        )

    def _offsets_client(self, pair: FlowConfig | Heartbeats) -> ClusterClient | None:
        """Where offsets are stored, if that is not the target."""
        if pair.offsets_alias == pair.target:
            return None
        return self._client(pair, pair.offsets_alias, _OFFSETS_ROLE)

    def _client(self, pair: FlowConfig | Heartbeats, alias: str, role: str) -> ClusterClient:
        name = self.job.connector_name
        cluster = self.job.cluster(alias)
        return ClusterClient(
            cluster.for_client(next(kind for kind in ClientKind if kind in role.split("-"))),
            client_id=client_id(pair.source, pair.target, name, role=role),
            stopped=self.over.is_set,
        )
