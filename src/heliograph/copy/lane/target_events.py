"""Turns the target's produce responses into events of a lane's partitions, in both delivery modes."""

from __future__ import annotations

import logging
import time

from heliograph.client.fetch.own_batches import OwnEnd
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LaneBatch
from heliograph.copy.partition import Partition
from heliograph.copy.subscription import SubscriptionState
from heliograph.counted import counted
from heliograph.errors import ClientError, Interrupted
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)


class LaneTarget:
    """Part of one copy loop."""

    def __init__(
        self, flow: str, target: ClusterClient, outlet: Outlet, subscription: SubscriptionState
    ) -> None:
        self._flow = flow
        self._target = target
        self._outlet = outlet
        self._subscription = subscription

    def mirrored(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        """A batch is mirrored: acknowledged or, with exactly once, committed."""
        assert isinstance(batch, LaneBatch)
        copy = batch.owner
        if batch.quarantined and batch.span.live:
            log.error(
                "%s: %s: %s from source offset %d on not mirrored; the first one: %s; coordinates in %s",
                *(self._flow, copy.source, counted(batch.quarantined, "record")),
                *(batch.first_offset, batch.why, partition.topic),
            )
        copy.landed(batch, base_offset, time.time())
        self._subscription.obey(copy)

    def takes(self, partition: TopicPartition) -> None:
        """It has acknowledged a batch, whether that is committed or not."""
        for copy in self._outlet.takes(partition):
            copy.unstall()
            self._subscription.obey(copy)

    def retried(self, partition: TopicPartition, error: ClientError) -> None:
        """The producer repeats a request of this partition."""
        if isinstance(error, Interrupted):
            return  # the epoch ends and interrupts requests; that is not an error of the partition
        waiting = self._outlet.stall(partition)
        for copy in waiting:
            self._subscription.stall(copy, str(error))
            if partition.topic not in self._target.metadata.partitions:
                copy.miss(partition.topic)
        if not waiting:
            log.warning("flow %s: storing offsets: %s; retrying", self._flow, error)

    def doubted(self, partition: TopicPartition, error: ClientError) -> None:
        """Only for queues with a producer id of their own, which a lane has not."""
        raise AssertionError(f"{partition}: {error}")

    def lost(self, copy: Partition, left: OwnEnd) -> None:
        """Only where the target's log is compared, which a lane does not."""
        raise AssertionError(f"{copy.target}: {left}")
