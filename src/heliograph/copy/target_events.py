"""Turns the target's produce responses into events of the partitions, in both delivery modes."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heliograph.client.fetch.own_batches import OwnEnd
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.delivery import Delivery
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.partition import Partition
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.subscription import SubscriptionState
from heliograph.copy.target_loss import TargetLoss
from heliograph.errors import ClientError, Interrupted
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)


def warn_of_unplaced(flow: str, copy: Partition, batches: Sequence[ProducerBatch]) -> None:
    log.warning(
        "%s: %s: source offsets %d to %d are on the target at unknown offsets; committed offsets among them "
        "are translated by offset syncs (%d such records so far)",
        flow,
        copy.source,
        batches[0].first_offset,
        batches[-1].next_offset - 1,
        copy.remote.unplaced,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEvents:
    """Part of one copy loop. `copies` are by target partition."""

    flow: FlowConfig
    copies: Mapping[TopicPartition, Partition]
    target: ClusterClient
    producer: Producer
    delivery: Delivery
    recovery: ProducerRecovery
    subscription: SubscriptionState
    quarantine: Quarantine
    gaps: GapWatch
    loss: TargetLoss

    def mirrored(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        """A batch is mirrored: acknowledged or, with exactly once, committed. The batch may also hold the
        coordinates of quarantined records."""
        copy = self.copies.get(partition)
        if copy is None:
            copy = self.quarantine.acknowledged()
        else:
            unplaced = copy.remote.unplaced
            foreign = copy.acknowledged(batch, base_offset, time.time())
            if foreign is not None:
                self.delivery.foreign(copy, foreign)
            if copy.remote.unplaced != unplaced:
                warn_of_unplaced(self.flow.name, copy, [batch])
        self.subscription.obey(copy)

    def retried(self, partition: TopicPartition, error: ClientError) -> None:
        """The producer repeats a request of this partition."""
        if isinstance(error, Interrupted):
            return  # the epoch ends and interrupts requests; that is not an error of the partition
        copy = self.copies.get(partition)
        if copy is not None:
            self.subscription.stall(copy, str(error))
        elif partition.topic in self.quarantine.topics:
            for copy in self.quarantine.waiting():
                self.subscription.mark_retrying(
                    copy, f"{self.flow.name}: {copy.source}: quarantine: {error}"
                )
        else:
            log.warning("flow %s: storing offsets: %s; retrying", self.flow.name, error)

    def doubted(self, partition: TopicPartition, error: ClientError) -> None:
        """Whether records were appended is not known, and the broker may have forgotten their producer."""
        copy = self.copies[partition]
        log.debug("flow %s: %s: %s; reading the target's log", self.flow.name, copy.source, error)
        copy.refused(in_doubt=True)
        self.subscription.obey(copy)

    def lost(self, copy: Partition, left: OwnEnd) -> None:
        """The target has lost acknowledged records from the end of those `left` on."""
        self.target.refresh(self.producer.topics)
        self.gaps.compare_topics()
        if copy.recheck:
            return  # the topic was created again: the driver handles that
        verdict, exact = self.loss.judge(copy, left.offset)
        for gap in verdict.gaps:
            copy.forget_places(gap.first)
        self.loss.write_map()
        self.gaps.lost(copy, verdict)
        if copy.remote.copied_since:
            self.recovery.fall_back_to_at_least_once(
                copy, "records have been copied since the target lost others"
            )
        elif not left.proven and not copy.halted:
            self.recovery.fall_back_to_at_least_once(
                copy,
                "the target has deleted the records that would show whether newer ones have been copied "
                "since it lost others",
            )
        elif not exact and not copy.halted:
            self.recovery.fall_back_to_at_least_once(
                copy, "the offset map ends before the records that the target lost"
            )
