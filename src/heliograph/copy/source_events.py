"""Turns fetch responses into events of the partitions, and their records into batches to send."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import prepare
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.subscription import SubscriptionState
from heliograph.copy.target_events import warn_of_unplaced
from heliograph.model import Timestamps, TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchedPartition
from heliograph.wire.messages import broker_error


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvents:
    """Part of one copy loop. `copies` are by source partition; `forward` prepares records and sends them;
    `progressed` is called when some arrive."""

    flow: FlowConfig
    copies: Mapping[TopicPartition, Partition]
    forward: Callable[[Partition, FetchedPartition], None]
    subscription: SubscriptionState
    gaps: GapWatch
    progressed: Callable[[], None]

    def fetched(self, answer: FetchedPartition) -> None:
        copy = self.copies[TopicPartition(answer.topic, answer.partition)]
        if answer.error:
            self._fetch_failed(copy, answer.error)
            return
        # The response has both; a read_committed consumer can read up to the last stable offset.
        committed = self.flow.isolation_level.wire == 1
        copy.answered(answer.last_stable_offset if committed else answer.high_watermark)
        if answer.records:
            self.progressed()
            self.forward(copy, answer)

    def nothing_left(self, ends: Mapping[TopicPartition, int]) -> None:
        """No record is left below the end of a bounded lease: compaction has removed the rest."""
        for key, readable in ends.items():
            copy = self.copies[key]
            end = copy.lease.end
            if end is not None and copy.position < end <= readable:
                copy.read_to(end)
                self.subscription.obey(copy)

    def _fetch_failed(self, copy: Partition, code: int) -> None:
        error = broker_error(code, f"{self.flow.name}: {copy.source} at offset {copy.position}")
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self.gaps.suspect(copy, str(error))
        elif error.retriable:
            self.subscription.mark_retrying(copy, str(error))
        else:
            self.subscription.fail(copy, str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class RawForward:
    """Batches are sent as they are, where that is possible. Part of one copy loop."""

    flow: FlowConfig
    producer: Producer
    recovery: ProducerRecovery
    subscription: SubscriptionState
    quarantine: Quarantine

    def __call__(self, copy: Partition, answer: FetchedPartition) -> None:
        prepared = prepare(
            copy,
            answer,
            append_time=self.flow.timestamps is Timestamps.READER,
            subject=f"{self.flow.name}: {copy.source}",
            quarantine=self.quarantine.enabled,
        )
        copy.read(prepared)
        if prepared.uncertain:
            self.recovery.fall_back_to_at_least_once(
                copy, "the records read there are not those that were copied"
            )
            self.subscription.obey(copy)
            return
        unplaced = copy.remote.unplaced
        copy.fetched(prepared)
        if copy.remote.unplaced != unplaced:
            warn_of_unplaced(self.flow.name, copy, prepared.there)
        for batch in prepared.batches:
            self.producer.append(copy.target, batch)
        copy.measure_age(prepared.batches, time.time())
        if prepared.failure is not None:
            self.subscription.fail(copy, str(prepared.failure))
        else:
            self.subscription.obey(copy)
