"""Exactly once, the driver's part: whose turn it is to write.

    start     take the leader's transactional.id, then all tasks' : what was left open is aborted, whoever
              still writes is fenced; only then are stored offsets read
    epoch     a new epoch of each task's id, handed to the task with its leases; then make sure that the
              leader's is still ours

Ids are Connect's, so that the same holds between Java's MM2 and us: the leader's first, as there. A task
never asks for an identity of its own: one that comes late finds the one it was given fenced.
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
    """The leader's transactional.id of one group: one identity for all flows of a service, which would
    fence each other otherwise."""

    def __init__(self) -> None:
        self._identity: ProducerIdentity | None = None
        self._lock = threading.Lock()

    def take(self, coordinator: Coordinator) -> None:
        """Whoever leads, from now on it is this service."""
        with self._lock:
            if self._identity is not None:
                try:
                    self._identity = coordinator.init(self._identity)
                    return
                except Fenced as e:
                    log.warning("the leader's transactional.id is taken back: %s", e)
            self._identity = coordinator.init()

    def confirm(self, coordinator: Coordinator) -> None:
        """Raises Fenced if somebody else leads."""
        with self._lock:
            self._identity = coordinator.init(self._identity)


class Fencing:
    """Of one flow that mirrors exactly once; `cluster` is a client of the target that nobody else uses.

    Raises ClientError where the target's coordinators do not answer, Fenced where another leads by now.
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
        """From here on nobody else writes: neither we before, nor another service, nor Java's MM2."""
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
            "flow %s: exactly once: %d transactional ids are ours",
            self._flow.name,
            len(ids | others),
        )

    def identities(self, tasks: Iterable[int]) -> dict[int, ProducerIdentity]:
        """What these tasks are to write under in the epoch to come."""
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
    """For each task, by flow, the identity to write under."""
    found: list[dict[str, ProducerIdentity]] = [{} for _ in tasks]
    for name, fencing in flows:
        busy = [n for n, leases in enumerate(tasks) if any(lease.flow == name for lease in leases)]
        if fencing is not None and busy:
            for task, identity in fencing.identities(busy).items():
                found[task][name] = identity
    return found
