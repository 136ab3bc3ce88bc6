"""Brokers of one cluster: who leads which partition, and one coordinator of transactions (`ReplicaManager`).

Time is the caller's. `write_markers` is what brokers do by themselves between requests; with
`markers_at_once` every request does it at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from heliograph.model import TopicPartition
from simulation.model.errors import Error
from simulation.model.partition_log import Appended, FetchedData, PartitionLog
from simulation.model.produce import produce
from simulation.model.transaction_coordinator import TransactionCoordinator

_NAMES = UUID("5f1c6a52-0000-4000-8000-000000000000")


@dataclass
class Topic:
    id: UUID
    logs: list[PartitionLog]
    configs: dict[str, str] = field(default_factory=dict)


class Cluster:
    """Brokers 1 to `nodes`. Broker 1 is controller and coordinator, and leads new partitions."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        *,
        nodes: int = 1,
        markers_at_once: bool = True,
        transaction_version: int = 2,
    ) -> None:
        self.now_ms = now_ms
        self.nodes = range(1, nodes + 1)
        self.topics: dict[str, Topic] = {}
        self.leaders: dict[TopicPartition, int] = {}
        self.coordinator_node = 1
        self.coordinator = TransactionCoordinator(now_ms, version=transaction_version)
        self.markers_at_once = markers_at_once
        self._created = 0

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Also in place of one that was deleted: with another id."""
        self._created += 1
        settings = dict(configs or {})
        most = int(settings.get("max.message.bytes", "1048588"))
        logs = [PartitionLog(self.now_ms, max_message_bytes=most) for _ in range(partitions)]
        self.topics[name] = Topic(uuid5(_NAMES, f"{name} {self._created}"), logs, settings)
        for index in range(partitions):
            self.leaders[TopicPartition(name, index)] = 1

    def delete_topic(self, name: str) -> None:
        topic = self.topics.pop(name)
        for index in range(len(topic.logs)):
            del self.leaders[TopicPartition(name, index)]

    def log(self, partition: TopicPartition) -> PartitionLog | None:
        topic = self.topics.get(partition.topic)
        if topic is None or partition.partition >= len(topic.logs):
            return None
        return topic.logs[partition.partition]

    def led(self, node: int, partition: TopicPartition) -> tuple[Error, PartitionLog | None]:
        """The log if this broker leads it, else why not."""
        log = self.log(partition)
        if log is None:
            return Error.UNKNOWN_TOPIC_OR_PARTITION, None
        if self.leaders[partition] != node:
            return Error.NOT_LEADER_OR_FOLLOWER, None
        return Error.NONE, log

    # ── requests with batches ────────────────────────────────────────────────────────────────

    def produce(
        self,
        node: int,
        batches: Mapping[TopicPartition, bytes],
        *,
        transactional_id: str | None = None,
        version: int = 8,
    ) -> dict[TopicPartition, Appended]:
        found = {partition: self.led(node, partition) for partition in batches}
        logs = {partition: log for partition, (_, log) in found.items() if log is not None}
        answers = produce(logs, self.coordinator, batches, transactional_id, version)
        for partition, (error, _) in found.items():
            if error:
                answers[partition] = Appended(error)
        self.end_of_request()
        return answers

    def fetch(
        self,
        node: int,
        partition: TopicPartition,
        offset: int,
        *,
        committed: bool,
        leader_epoch: int = -1,
        max_bytes: int = 1 << 20,
    ) -> FetchedData:
        error, log = self.led(node, partition)
        if log is None:
            return FetchedData(error)
        if error := log.check_leader_epoch(leader_epoch):
            return FetchedData(error)
        return log.read(offset, max_bytes, committed=committed)

    # ── what brokers do by themselves ────────────────────────────────────────────────────────

    def write_markers(self, most: int | None = None) -> int:
        """Up to so many markers of ending transactions; gives how many were written. A partition that is
        gone needs none."""
        due = self.coordinator.markers_due()[:most]
        for marker in due:
            if (log := self.log(marker.partition)) is not None:
                log.end_transaction(
                    marker.producer,
                    commit=marker.commit,
                    coordinator_epoch=self.coordinator.coordinator_epoch,
                    transaction_version=marker.version,
                )
            self.coordinator.marker_written(marker)
        return len(due)

    def abort_timed_out(self) -> list[str]:
        late = self.coordinator.abort_timed_out()
        self.end_of_request()
        return late

    def restart(self, *, clean: bool) -> None:
        """All brokers; each partition gets a new leader epoch."""
        self.coordinator.reload()
        for topic in self.topics.values():
            for log in topic.logs:
                log.restart(log.leader_epoch + 1, clean=clean)

    def end_of_request(self) -> None:
        if self.markers_at_once:
            self.write_markers()
