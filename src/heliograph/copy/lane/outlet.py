"""Where batches leave a lane: to the producer; or, while a transaction is being ended, nowhere yet.

A lane writes a span to several remote partitions, and a transaction must have all of a span or nothing of it.
So while one is being ended, the outlet is closed: what is prepared meanwhile belongs to the next one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from heliograph.client.admin.topics import topic_config
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.copy.lane.partition import LaneBatch, LanePartition
from heliograph.errors import ClientError
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)

#: How often the target is asked whether a routed topic is there now.
_ASK_SECONDS = 0.25


class Outlet:
    """Part of one copy loop. `reach` runs an action that needs the target, or defers it."""

    def __init__(
        self,
        flow: str,
        target: ClusterClient,
        producer: Producer,
        reach: Callable[[ClusterClient, Callable[[], object]], None],
    ) -> None:
        self.closed = False
        self._flow = flow
        self._target = target
        self._producer = producer
        self._reach = reach
        self._kept: list[tuple[TopicPartition, LaneBatch]] = []
        self._writers: dict[TopicPartition, set[LanePartition]] = {}
        self._stuck: set[TopicPartition] = set()
        self._limits: dict[str, int] = {}
        self._asked: dict[str, float] = {}

    @property
    def partitions(self) -> set[TopicPartition]:
        """All that records were written to so far."""
        return set(self._writers)

    def append(self, batches: Iterable[tuple[TopicPartition, LaneBatch]]) -> None:
        for partition, batch in batches:
            self._writers.setdefault(partition, set()).add(batch.owner)
            if self.closed:
                batch.detach()  # the response that it may be a slice of is not kept for it
                self._kept.append((partition, batch))
            else:
                self._producer.append(partition, batch)

    def close(self) -> None:
        self.closed = True

    def open(self) -> None:
        self.closed = False
        kept, self._kept = self._kept, []
        for partition, batch in kept:
            self._producer.append(partition, batch)

    def drop(self) -> None:
        """The transaction was aborted: its partitions go back."""
        self._kept = []
        self._stuck = set()
        self.open()

    # ── remote partitions ────────────────────────────────────────────────────────────────────

    def missing(self, partition: TopicPartition) -> str | None:
        """Why records cannot be routed there now; None: they can."""
        count = self._target.metadata.partitions.get(partition.topic)
        if count is None or partition.partition >= count:
            self._ask(partition.topic)
            count = self._target.metadata.partitions.get(partition.topic)
        if count is None:
            return f"there is no topic {partition.topic} on {self._target.config.alias} yet"
        if partition.partition >= count:
            return (
                f"{partition.topic} on {self._target.config.alias} has {count} partitions, and records go to "
                f"partition {partition.partition}"
            )
        self._producer.also_to(partition.topic)
        return None

    def _ask(self, topic: str) -> None:
        self._producer.also_to(topic)
        now = time.monotonic()
        if now - self._asked.get(topic, -_ASK_SECONDS) >= _ASK_SECONDS:
            self._asked[topic] = now
            self._reach(self._target, lambda: self._target.refresh(self._producer.topics))

    def most(self, topic: str) -> int | None:
        """The largest batch that a topic takes, once it has refused one."""
        return self._limits.get(topic)

    def learn_most(self, topic: str) -> bool:
        """Whether the limit is new, so that batches can be cut to fit it."""
        try:
            value = topic_config(self._target, topic, "max.message.bytes")
        except ClientError as e:
            log.warning("flow %s: %s", self._flow, e)
            return False
        if value is None or self._limits.get(topic) == int(value):
            return False
        self._limits[topic] = int(value)
        return True

    def learn_again(self) -> None:
        """The user may have raised a limit, which is what a failed partition waits for."""
        for topic in list(self._limits):
            self.learn_most(topic)

    # ── partitions that wait ─────────────────────────────────────────────────────────────────

    def writers(self, partition: TopicPartition) -> list[LanePartition]:
        """Those with records on their way to it, and perhaps others."""
        return [copy for copy in self._writers.get(partition, ()) if copy.outstanding]

    def stall(self, partition: TopicPartition) -> list[LanePartition]:
        """It takes no records at the moment. Returns the partitions that wait for it; none, if it is of the
        offsets topic."""
        if partition in self._writers:
            self._stuck.add(partition)
        return self.writers(partition)

    def takes(self, partition: TopicPartition) -> list[LanePartition]:
        """It has taken a batch. Returns the partitions that waited for it, and for nothing else."""
        if partition not in self._stuck:
            return []
        self._stuck.remove(partition)
        waiting = {copy for each in self._stuck for copy in self._writers[each]}
        return [copy for copy in self._writers[partition] if copy.stalled and copy not in waiting]
