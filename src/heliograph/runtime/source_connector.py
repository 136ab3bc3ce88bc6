"""What goes on around the data of one flow: internal topics, configurations, ACLs, its own state.

Two threads, so that one that waits does not hold up the other, and none of them the copying:

    topics   internal topics ► configurations ► ACLs       MirrorSourceConnector's part
    state    where the flow stands                         told to `heliograph status` and other mirrors
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.client_ids import ClientRole
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import ClientError
from heliograph.mm2.state_records import RUNNING, STOPPED
from heliograph.model import Receipt, TopicPartition
from heliograph.plan.internal_topics import PlacedTopic, internal_topics, state_of
from heliograph.runtime.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.schedule import Schedule, time_left
from heliograph.sync.acls import sync_acls
from heliograph.sync.configs import sync_configs
from heliograph.sync.internal_topics import ensure_internal_topic
from heliograph.sync.state import StateSync

#: How often a missing internal topic is tried again.
_INTERNAL_TOPICS_SECONDS = 30.0
_STATE_SECONDS = 5.0
#: Of the clients that each thread has, to the source and to the target.
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
        self._missing = _created_beside_the_copy(flow.config)
        self._clients = {
            (thread, alias): clients(flow.config, alias, role)
            for thread, roles in _ROLES.items()
            for alias, role in zip((flow.config.source, flow.config.target), roles, strict=True)
        }
        self._state = StateSync(flow.config, *self._both("state"), since_ms)
        self._stop = stop
        self.internal_topics_seen = False
        self._topics = Schedule(f"{flow.config.name} topics and ACLs", problems, stop)
        self._telling = Schedule(f"{flow.config.name} state", problems, stop)
        self._plan_topics()
        self._telling.every(_STATE_SECONDS, f"flow {flow.config.name}: state", self._tell_state)

    def start(self) -> None:
        for schedule in self._schedules:
            schedule.start()

    def before_copying(self) -> None:
        """A bounded run's share of it, while nothing is copied yet."""
        self._telling.run_all()
        self._topics.run_all()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """What tasks have copied; from any thread."""
        self._flow.gaps.hear(list(receipts))

    def close(self, timeout: float, *, goodbye: bool) -> None:
        left = time_left(timeout)
        for schedule in self._schedules:
            schedule.join(left())
        if goodbye and self._state.told_anything and not self._telling.running and left():
            self._say_goodbye()
        for client in self._clients.values():
            client.close()

    def _say_goodbye(self) -> None:
        """A last word on the flow's state; a mirror in the other direction need not wait for it to age."""
        for client in self._both("state"):
            client.stopped = lambda: False
            client.timeout = _GOODBYE_SECONDS
        try:
            self._write_state(STOPPED)
        except ClientError as e:
            log.warning("flow %s: its last state could not be told: %s", self._config.name, e)

    @property
    def _schedules(self) -> tuple[Schedule, ...]:
        return self._topics, self._telling

    # ── the threads' jobs ────────────────────────────────────────────────────────────────

    def _plan_topics(self) -> None:
        name = f"flow {self._config.name}"
        self._topics.every(
            _INTERNAL_TOPICS_SECONDS, f"{name}: internal topics", self._ensure_internal_topics
        )
        configs = self._config.config_sync.interval_seconds
        self._topics.every(configs, f"{name}: topic configurations", self._sync_configs)
        acls = self._config.acl_sync_interval_seconds
        self._topics.every(acls, f"{name}: ACLs", self._sync_acls)

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
        return sync_acls(self._config, self._topic_filter, source, target).problems

    def _tell_state(self) -> Mapping[str, str]:
        """As soon as the flow knows what it will mirror, and before it does: others may depend on it."""
        if not self._await(lambda: self._flow.observed, _STATE_SECONDS):
            return {}
        noted = {
            **self._shared_partitions(),
            **self._fallback_partitions(),
            **self._left_out(),
        }
        return {**noted, **self._write_state(RUNNING)}

    def _shared_partitions(self) -> Mapping[str, str]:
        """Remote partitions that are no copies any more."""
        remote = {
            TopicPartition(self._config.target_topic(topic), number)
            for topic, number in self._progress.shared_partitions(self._config.name)
        }
        sentence = (
            "somebody else writes to it, too, so it is no copy of its source any more; let only this "
            "mirror write to remote topics"
        )
        return {str(partition): f"{partition}: {sentence}" for partition in remote}

    def _fallback_partitions(self) -> Mapping[str, str]:
        """Source partitions that went on at least once since this service started."""
        return {
            f"{partition} resumed": f"{partition}: went on at least once, since nobody could tell what of it "
            "was on the target; records may stand there twice"
            for partition in self._progress.fallback_partitions(self._config.name)
        }

    def _left_out(self) -> Mapping[str, str]:
        """Records that are in quarantine instead of on the target, since this service started."""
        topic = self._config.quarantine
        if topic is None:
            return {}
        return {
            f"{partition} quarantine": f"{partition}: {count:,} records are not mirrored, since the target "
            f"does not take them; {topic.name} on {self._config.target} names each"
            for partition, count in self._progress.quarantined(self._config.name).items()
        }

    def _write_state(self, state: str) -> Mapping[str, str]:
        name = self._config.name
        failed = self._flow.gaps.failed()
        receipts = [
            r
            for r in self._progress.receipts()
            if r.flow == name and TopicPartition(r.topic, r.partition) not in failed
        ]
        problems = self._problems.below(f"flow {name}")
        return self._state.write(
            state,
            [*receipts, *failed.values()],
            refused=self._flow.refused(),
            problems=problems,
            origins=self._flow.gaps.origins(),
            gaps=self._flow.gaps.records(),
            restarts=self._progress.restarts,
            now_ms=int(time.time() * 1000),
        )

    def _await(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Whether something that another thread brings about came before the stop, and in time."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self._stop.wait(0.1) or time.monotonic() > deadline:
                return False
        return True

    def _both(self, thread: str) -> tuple[ClusterClient, ClusterClient]:
        source, target = self._config.source, self._config.target
        return self._clients[thread, source], self._clients[thread, target]


def _created_beside_the_copy(flow: FlowConfig) -> list[PlacedTopic]:
    """Not the offsets topic, without which the flow cannot run, and which it sees to itself; nor the
    checkpoints topic, which comes with the first checkpoint; nor that of the state."""
    others = {flow.offsets_topic, state_of(flow).topic}
    if flow.checkpoints is not None:
        others.add(flow.checkpoints.topic)
    return [placed for placed in internal_topics(flow) if placed.topic not in others]
