"""Acknowledged positions, on their way to Connect's offsets topic on the target."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from heliograph.client.producer import Outgoing, Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.offset_records import offset_batches
from heliograph.model import TopicPartition
from heliograph.pipeline.progress import PartitionCopy

log = logging.getLogger(__name__)


class OffsetStore:
    """`mark` what is acknowledged now; `store` writes what was marked, however far the copy is by then.

    In between, the stretches below these positions are written: were it the other way round, a crash would
    leave mirrored records of which nobody knows where they are.
    """

    def __init__(self, flow: FlowConfig, producer: Producer) -> None:
        self._flow = flow
        self._producer = producer
        self._marked: dict[PartitionCopy, int] = {}

    def mark(self, copies: Collection[PartitionCopy]) -> None:
        for copy in copies:
            if copy.acked != copy.stored:
                self._marked[copy] = copy.acked

    @property
    def marked(self) -> bool:
        return bool(self._marked)

    def store(self) -> None:
        """Queue them; the producer sees them through. Raises ClientError if the target cannot be asked."""
        if not self._marked:
            return
        topic, cluster = self._flow.offsets_topic.name, self._producer.cluster
        partitions = cluster.metadata.partitions.get(topic)
        if not partitions:  # brokers learn of a new topic one after the other
            partitions = cluster.refresh(self._producer.topics).partitions.get(topic)
        if not partitions:
            log.warning("flow %s: %s is not known; offsets not stored", self._flow.name, topic)
            return
        positions = {copy.source: position for copy, position in self._marked.items()}
        now_ms = int(time.time() * 1000)
        for number, batch, count in offset_batches(
            self._flow.connector_name, self._flow.source, positions, partitions, now_ms
        ):
            self._producer.append(
                TopicPartition(topic, number), Outgoing(memoryview(batch), count, -1, -1)
            )
        for copy, position in self._marked.items():
            copy.stored = position
        self._marked = {}
