"""Stores acknowledged positions in Connect's offsets topic."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.partition import Partition
from heliograph.errors import BrokerError
from heliograph.measured import Stopwatch
from heliograph.mm2.connect.offset_records import Logs, offset_batches
from heliograph.model import TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error

log = logging.getLogger(__name__)

#: The positions that a batch stores.
_Queued = dict[ProducerBatch, list[tuple[Partition, int]]]


class OffsetStore:
    """`mark` takes the positions acknowledged now; `store` writes the marked ones, even if the copy has
    advanced by then.

    In between, the offset map up to these positions is written: in the other order, a crash would leave
    mirrored records whose target offsets are unknown.

    `with_marks`: each position is stored with the leader epoch mark of its source; without snapshots, as in a
    lane, a successor would not notice that the source was truncated meanwhile.
    """

    def __init__(self, flow: FlowConfig, producer: Producer, *, with_marks: bool = False) -> None:
        self._flow = flow
        self._producer = producer
        self._with_marks = with_marks
        self._marked: dict[Partition, int] = {}
        self._logs: dict[Partition, Logs] = {}
        self._sent: _Queued = {}
        self._queued_at: dict[ProducerBatch, float] = {}
        self.times = Stopwatch()  # until positions are stored or, in a transaction, committed

    def mark(self, copies: Collection[Partition]) -> None:
        for copy in copies:
            if copy.to_store:
                self._marked[copy] = copy.mark_to_store()
                if self._with_marks:
                    self._logs[copy] = Logs(mark=copy.source_mark)

    @property
    def marked(self) -> bool:
        return bool(self._marked)

    def store(self) -> None:
        """Queue the marked positions. Raises ClientError if the cluster cannot be reached."""
        if not self._marked:
            return
        try:
            queued = self.append(self._marked, self._logs)
        except BrokerError as e:
            log.warning("flow %s: %s; offsets not stored", self._flow.name, e)
            return
        self._sent |= queued
        self._queued_at |= dict.fromkeys(queued, time.monotonic())
        for copy, position in self._marked.items():
            copy.store(position)
        self._marked, self._logs = {}, {}

    def append(
        self,
        positions: Mapping[Partition, int],
        logs: Mapping[Partition, Logs] | None = None,
    ) -> _Queued:
        """Queue these positions. Raises ClientError, in which case nothing is queued."""
        topic, cluster = self._flow.offsets_topic.name, self._producer.cluster
        partitions = cluster.metadata.partitions.get(topic)
        if not partitions:  # a new topic reaches the brokers' metadata one after the other
            partitions = cluster.refresh(self._producer.topics).partitions.get(topic)
        if not partitions:
            raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"target {topic}")
        by_source = {copy.source: (copy, position) for copy, position in positions.items()}
        now_ms = int(time.time() * 1000)
        queued: _Queued = {}
        for number, batch, sources in offset_batches(
            self._flow.connector_name,
            self._flow.source,
            {source: position for source, (_, position) in by_source.items()},
            partitions,
            now_ms,
            {copy.source: its for copy, its in (logs or {}).items()},
        ):
            out = ProducerBatch(memoryview(batch), len(sources), -1, -1)
            queued[out] = [by_source[source] for source in sources]
            self._producer.append(TopicPartition(topic, number), out)
        return queued

    def acknowledged(self, batch: ProducerBatch) -> None:
        """The offsets topic has the positions of this batch, and none that were stored before them."""
        queued_at = self._queued_at.pop(batch, None)
        if queued_at is not None:
            self.times.note(time.monotonic() - queued_at)
        for copy, position in self._sent.pop(batch, ()):
            copy.confirm_stored(position)
