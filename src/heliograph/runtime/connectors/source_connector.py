"""The jobs of MirrorSourceConnector besides the copy: internal topics, topic settings, ACLs, flow state.

Two threads with their own clients, so that neither delays the other or the copy:

    topics   internal topics ► topic settings ► ACLs       as in MirrorSourceConnector
    state    position and problems of the flow             for `heliograph status` and other mirrors
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole
from heliograph.config.mirror_config import FlowConfig
from heliograph.counted import counted
from heliograph.errors import ClientError
from heliograph.mm2.state_records import RUNNING
from heliograph.model import Receipt, TopicPartition
from heliograph.plan.internal_topics import PlacedTopic, internal_topics, state_of
from heliograph.runtime.connectors.routed_topics import RoutedTopics
from heliograph.runtime.connectors.schedule import Schedule, time_left
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.sync.acls import sync_acls
from heliograph.sync.configs import sync_configs
from heliograph.sync.internal_topics import ensure_internal_topic
from heliograph.sync.state import StateSync

#: How often the creation of a missing internal topic is retried.
_INTERNAL_TOPICS_SECONDS = 30.0
_STATE_SECONDS = 5.0
#: Until every partition has reported once: `heliograph status` is not to call one WAITING that is copied.
_FIRST_STATE_SECONDS = 1.0
#: At most for so long: tasks may never start, and the state topic may be one that cannot be created.
_FIRST_STATES_SECONDS = 60.0
#: The roles of each thread's clients, for the source and the target.
_ROLES = {
    "topics": (ClientRole.REPLICATION_SOURCE_ADMIN, ClientRole.REPLICATION_TARGET_ADMIN),
    "state": ("state-source-admin", "state-target-producer"),
}
_GOODBYE_SECONDS = 1.0

log = logging.getLogger(__name__)

Clients = Callable[[FlowConfig, str, str], ClusterClient]


class SourceConnector:
    """`clients(flow, alias, role)` gives a client that no other thread uses."""

    def __init__(
        self,
        flow: ObservedFlow,
        clients: Clients,
        progress: Progress,
        problems: Problems,
        stop: threading.Event,
        since_ms: int,
    ) -> None:
        self._flow = flow
        self._progress = progress
        self._problems = problems
        self._config = flow.config
        self._topic_filter = flow.config.topic_filter()
        self._missing = _topics_to_create(flow.config)
        self._clients = {
            (thread, alias): clients(flow.config, alias, role)
            for thread, roles in _ROLES.items()
            for alias, role in zip((flow.config.source, flow.config.target), roles, strict=True)
        }
        self._state = StateSync(flow.config, *self._both("state"), since_ms)
        self._routed = self._routed_topics(clients, stop)
        self._stop = stop
        self._next_state = 0.0
        self._first_states_until = time.monotonic() + _FIRST_STATES_SECONDS
        self._state_problems: Mapping[str, str] = {}
        self.internal_topics_seen = False
        self._acl_note: str | None = None
        self._topic_jobs = Schedule(f"{flow.config.name} topics and ACLs", problems, stop)
        self._state_jobs = Schedule(f"{flow.config.name} state", problems, stop)
        self._plan_topics()
        self._state_jobs.every(
            _FIRST_STATE_SECONDS, f"flow {flow.config.name}: state", self._report_state
        )

    def _routed_topics(self, clients: Clients, stop: threading.Event) -> RoutedTopics | None:
        flow = self._config
        if flow.lane is None or not flow.lane.routes:
            return None
        source, target = (
            clients(flow, alias, role)
            for alias, role in zip((flow.source, flow.target), _ROLES["topics"], strict=True)
        )
        return RoutedTopics(flow, source, target, self._problems, stop)

    def start(self) -> None:
        for schedule in self._schedules:
            schedule.start()
        if self._routed is not None:
            self._routed.schedule.start()

    def before_copying(self) -> None:
        """In a bounded run: all jobs once, before anything is copied."""
        self._state_jobs.run_all()
        self._topic_jobs.run_all()
        if self._routed is not None:
            self._routed.schedule.start()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """Process receipts; for any thread."""
        found = list(receipts)
        self._flow.gaps.learn(found)
        if self._routed is not None:
            self._routed.learn(found)

    def close(self, timeout: float, last_state: str | None) -> None:
        """`last_state`: written for `status`; None if another service may run the flow already."""
        left = time_left(timeout)
        for schedule in self._schedules:
            schedule.join(left())
        if self._routed is not None:
            self._routed.close(left())
        if last_state and self._state.told_anything and not self._state_jobs.running and left():
            self._write_last(last_state)
        for client in self._clients.values():
            client.close()

    def _write_last(self, state: str) -> None:
        """Write that the flow has ended, so that a mirror in the other direction need not wait until its
        state expires."""
        for client in self._both("state"):
            client.stopped = lambda: False
            client.timeout = _GOODBYE_SECONDS
        try:
            self._write_state(state)
        except ClientError as e:
            log.warning("flow %s: could not write its last state: %s", self._config.name, e)

    @property
    def _schedules(self) -> tuple[Schedule, ...]:
        return self._topic_jobs, self._state_jobs

    # ── the threads' jobs ────────────────────────────────────────────────────────────────

    def _plan_topics(self) -> None:
        name = f"flow {self._config.name}"
        self._topic_jobs.every(
            _INTERNAL_TOPICS_SECONDS, f"{name}: internal topics", self._ensure_internal_topics
        )
        configs = self._config.config_sync.interval_seconds
        self._topic_jobs.every(configs, f"{name}: topic configurations", self._sync_configs)
        acls = self._config.acl_sync_interval_seconds
        self._topic_jobs.every(acls, f"{name}: ACLs", self._sync_acls)

    def _ensure_internal_topics(self) -> Mapping[str, str]:
        problems = {}
        for placed in list(self._missing):
            client = self._clients["topics", placed.alias]
            problem = ensure_internal_topic(client, placed)
            if problem is None:
                self._missing.remove(placed)
            else:
                problems[placed.topic.name] = problem
        self.internal_topics_seen = True
        return problems

    def _sync_configs(self) -> Mapping[str, str]:
        source, target = self._both("topics")
        return sync_configs(self._config, self._flow.topics(), source, target).problems

    def _sync_acls(self) -> Mapping[str, str]:
        source, target = self._both("topics")
        changes = sync_acls(self._config, self._topic_filter, source, target)
        if changes.note is not None and changes.note != self._acl_note:
            log.info("flow %s: %s", self._config.name, changes.note)
        self._acl_note = changes.note
        return changes.problems

    def _report_state(self) -> Mapping[str, str]:
        """As soon as the flow is observed, before it copies: other mirrors detect cycles by it."""
        if time.monotonic() < self._next_state:
            return self._state_problems
        if not self._await(lambda: self._flow.observed, _STATE_SECONDS):
            return {}
        noted = {
            **self._shared_partitions(),
            **self._fallback_partitions(),
            **self._left_out(),
            **self._skipped(),
        }
        self._state_problems = {**noted, **self._write_state(RUNNING)}
        now = time.monotonic()
        if self._all_reported() or now > self._first_states_until:
            self._next_state = now + _STATE_SECONDS
        return self._state_problems

    def _all_reported(self) -> bool:
        name = self._config.name
        reported = sum(receipt.flow == name for receipt in self._progress.receipts())
        return reported + len(self._flow.gaps.failed()) >= len(self._flow.partitions() or ())

    def _shared_partitions(self) -> Mapping[str, str]:
        """Remote partitions that other programs write to."""
        remote = {
            TopicPartition(self._config.target_topic(topic), number)
            for topic, number in self._progress.shared_partitions(self._config.name)
        }
        sentence = (
            "another program also writes to it, so it is no longer a copy of its source; let only this "
            "mirror write to remote topics"
        )
        return {str(partition): f"{partition}: {sentence}" for partition in remote}

    def _fallback_partitions(self) -> Mapping[str, str]:
        """Source partitions that resumed at least once since this service started."""
        return {
            f"{partition} resumed": f"{partition}: resumed at least once, since it could not be determined "
            "which records had reached the target; duplicates possible"
            for partition in self._progress.fallback_partitions(self._config.name)
        }

    def _left_out(self) -> Mapping[str, str]:
        """Records that were quarantined since this service started."""
        topic = self._config.quarantine
        if topic is None:
            return {}
        why = "the target rejects them"
        if self._config.lane is not None:
            why = "they could not be transformed, or the target rejects them"
        return {
            f"{partition} quarantine": f"{partition}: {counted(count, 'record')} not mirrored, because "
            f"{why}; {topic.name} on {self._config.target} lists each"
            for partition, count in self._progress.quarantined(self._config.name).items()
        }

    def _skipped(self) -> Mapping[str, str]:
        """Records that were left out since this service started."""
        return {
            f"{partition} skipped": f"{partition}: {counted(count, 'record')} left out, because they could "
            "not be transformed (on.error = skip)"
            for partition, count in self._progress.skipped(self._config.name).items()
        }

    def _write_state(self, state: str) -> Mapping[str, str]:
        name = self._config.name
        failed = self._flow.gaps.failed()
        receipts = [
            r
            for r in self._progress.receipts()
            if r.flow == name and TopicPartition(r.topic, r.partition) not in failed
        ]
        problems = self._problems.of_flow(name)
        history = self._flow.history
        events, seen = history.pending()
        found = self._state.write(
            state,
            [*receipts, *failed.values()],
            refused=self._flow.refused(),
            problems=problems,
            origins=self._flow.gaps.origins(),
            gaps=self._flow.gaps.records(),
            events=events,
            restarts=self._progress.restarts,
            now_ms=int(time.time() * 1000),
        )
        if not found:  # else the topic is missing
            history.stored(events, seen)
        return found

    def _await(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Whether the condition became true in time and before the stop."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self._stop.wait(0.1) or time.monotonic() > deadline:
                return False
        return True

    def _both(self, thread: str) -> tuple[ClusterClient, ClusterClient]:
        source, target = self._config.source, self._config.target
        return self._clients[thread, source], self._clients[thread, target]


def _topics_to_create(flow: FlowConfig) -> list[PlacedTopic]:
    """All internal topics but three: the flow itself creates the offsets topic and the state topic, and the
    checkpoints topic is created with the first checkpoint."""
    others = {flow.offsets_topic, state_of(flow).topic}
    if flow.checkpoints is not None:
        others.add(flow.checkpoints.topic)
    return [placed for placed in internal_topics(flow) if placed.topic not in others]
