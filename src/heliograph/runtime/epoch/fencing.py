"""The driver's part of exactly once: fences earlier writers, and gives each task its producer identity.

    start     InitProducerId for the leader's transactional.id, then for those of all tasks: open transactions
              are aborted and earlier writers fenced; only then are stored offsets read
    epoch     a new producer epoch for each task, sent to the task with its leases; then check that the
              leader's id is still ours

The ids are Connect's, in Connect's order (leader first), so that Java's MM2 and Heliograph fence each other.
A task never calls InitProducerId itself: a late task finds that the identity it was given is fenced.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator, transactional_ids
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import Fenced
from heliograph.mm2.connect.transactional_ids import (
    leader_transactional_id,
    task_transactional_id,
    task_transactional_ids,
)
from heliograph.model import Lease, ProducerIdentity

log = logging.getLogger(__name__)


class LeaderSeat:
    """The producer identity of one group's leader transactional.id: shared by all flows of a service, which
    would otherwise fence each other."""

    def __init__(self) -> None:
        self._identity: ProducerIdentity | None = None
        self._lock = threading.Lock()

    def take(self, coordinator: Coordinator) -> None:
        """Take the id, also from another service."""
        with self._lock:
            if self._identity is not None:
                try:
                    self._identity = coordinator.init(self._identity)
                    return
                except Fenced as e:
                    log.warning("%s; taking the leader's transactional.id back", e)
            self._identity = coordinator.init()

    def confirm(self, coordinator: Coordinator) -> None:
        """Raises Fenced if another service has taken the id."""
        with self._lock:
            self._identity = coordinator.init(self._identity)


class Fencing:
    """Part of one exactly-once flow; `cluster` is a client of the target that nothing else uses.

    Raises ClientError if the target's coordinators do not answer, Fenced if another service leads.
    """

    def __init__(
        self, flow: FlowConfig, cluster: ClusterClient, seat: LeaderSeat, slots: int
    ) -> None:
        assert flow.exactly_once is not None
        self._flow = flow
        self._group = flow.group_id
        self._timeout_ms = flow.exactly_once.timeout_ms
        self._cluster = cluster
        self._tasks = max(flow.tasks_max, slots)
        self._seat = seat
        self._lock = threading.Lock()

    def claim(self) -> None:
        """Fence all earlier writers: our own tasks, other services and Java's MM2."""
        connector = self._flow.connector_name
        with self._lock:
            self._seat.take(self._coordinator(leader_transactional_id(self._group)))
            ids = {task_transactional_id(self._group, connector, n) for n in range(self._tasks)}
            others = transactional_ids(
                self._cluster, task_transactional_ids(self._group, connector)
            )
            for each in sorted(ids | others):
                self._coordinator(each).init()
        log.info(
            "flow %s: exactly once: took over %d transactional ids",
            self._flow.name,
            len(ids | others),
        )

    def identities(self, tasks: Iterable[int]) -> dict[int, ProducerIdentity]:
        """New identities for these tasks, for the next epoch."""
        with self._lock:
            found = {task: self._coordinator(self._id(task)).init() for task in tasks}
            self._seat.confirm(self._coordinator(leader_transactional_id(self._group)))
        return found

    def close(self) -> None:
        self._cluster.close()

    def _id(self, task: int) -> str:
        return task_transactional_id(self._group, self._flow.connector_name, task)

    def _coordinator(self, transactional_id: str) -> Coordinator:
        return Coordinator(self._cluster, transactional_id, timeout_ms=self._timeout_ms)


def task_producers(
    tasks: Sequence[Sequence[Lease]], flows: Iterable[tuple[str, Fencing | None]]
) -> list[dict[str, ProducerIdentity]]:
    """For each task, its producer identities by flow."""
    found: list[dict[str, ProducerIdentity]] = [{} for _ in tasks]
    for name, fencing in flows:
        busy = [n for n, leases in enumerate(tasks) if any(lease.flow == name for lease in leases)]
        if fencing is not None and busy:
            for task, identity in fencing.identities(busy).items():
                found[task][name] = identity
    return found
