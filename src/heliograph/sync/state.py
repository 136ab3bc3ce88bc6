"""Writes the status of a flow and of its partitions, and events, to Heliograph's state topic on the target.

`heliograph status` reads it from anywhere, and a mirror in the other direction finds cycles by it. Only
changes are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.state_records import (
    EventRecord,
    FlowStatus,
    GapRecord,
    PartitionStatus,
    first_problems,
)
from heliograph.model import Receipt, TopicIdPair, TopicPartition
from heliograph.plan.internal_topics import state_of
from heliograph.policy.topic_filter import DefaultTopicFilter
from heliograph.records.decode import Record
from heliograph.sync.internal_topics import ensure_internal_topic

#: A flow without changes writes its status this often.
_ALIVE_MS = 10_000


class StateSync:
    """One flow's state. For one thread."""

    def __init__(
        self, flow: FlowConfig, source: ClusterClient, target: ClusterClient, since_ms: int
    ) -> None:
        self._flow = flow
        self._since_ms = since_ms
        self._source = source
        self._target = target
        self._placed = state_of(flow)
        self._ready = False
        self._writer = RecordWriter(target, self._placed.topic.name)
        # A custom filter cannot be stored; other mirrors must assume that it accepts all topics.
        known = isinstance(flow.topic_filter(), DefaultTopicFilter)
        self._topics = flow.topics if known else (".*",)
        self._topics_exclude = flow.topics_exclude if known else ()
        self._written: dict[bytes, bytes] = {}
        self._seen: dict[tuple[str, int], Receipt] = {}
        #: A summary of the last status written, and its time.
        self._told: tuple[tuple[object, ...], int] = ((), 0)

    def write(
        self,
        state: str,
        receipts: Iterable[Receipt],
        *,
        refused: tuple[str, ...],
        problems: Mapping[str, str],
        origins: Mapping[TopicPartition, TopicIdPair],
        gaps: Iterable[GapRecord],
        events: Sequence[EventRecord] = (),
        restarts: int,
        now_ms: int,
    ) -> dict[str, str]:
        """Raises ClientError if it cannot be written; the next call writes it again."""
        problem = self._ensure_topic()
        if problem is not None:
            return {
                self._placed.topic.name: f"{problem}; the status of this flow cannot be written"
            }
        # An unchanged receipt is the same object.
        fresh = {
            (r.topic, r.partition): r
            for r in receipts
            if self._seen.get((r.topic, r.partition)) is not r
        }
        statuses = [_partition_status(receipt, origins) for receipt in fresh.values()]
        partitions = {status.key(): status.value() for status in statuses}
        partitions |= {record.key(): record.value() for record in gaps}
        news = {k: v for k, v in partitions.items() if self._written.get(k) != v}
        gist = (state, refused, restarts, *sorted(problems))
        if news or events or self._told[0] != gist or now_ms - self._told[1] >= _ALIVE_MS:
            status = replace(self._flow_status(state, refused, problems, now_ms), restarts=restarts)
            history = [(event.key(), event.value()) for event in events]
            records = [(status.key(), status.value()), *news.items(), *history]
            self._writer.write({0: [Record(timestamp=now_ms, key=k, value=v) for k, v in records]})
            self._written |= news
            self._told = (gist, now_ms)
        self._seen |= fresh
        return {}

    @property
    def told_anything(self) -> bool:
        """Whether a status of this flow was written."""
        return self._told[1] > 0

    def _ensure_topic(self) -> str | None:
        problem = None
        if not self._ready:
            problem = ensure_internal_topic(self._target, self._placed)
            self._ready = problem is None
        return problem

    def _flow_status(
        self, state: str, refused: tuple[str, ...], problems: Mapping[str, str], now_ms: int
    ) -> FlowStatus:
        if self._source.metadata.cluster_id is None:
            self._source.refresh([])
        return FlowStatus(
            flow=self._flow.name,
            source=self._flow.source,
            target=self._flow.target,
            source_id=self._source.metadata.cluster_id,
            target_id=self._target.metadata.cluster_id,
            policy=type(self._flow.policy).__name__,
            state=state,
            at_ms=now_ms,
            since_ms=self._since_ms,
            refused=refused,
            topics=self._topics,
            topics_exclude=self._topics_exclude,
            problems=first_problems(problems),
        )


def _partition_status(
    receipt: Receipt, origins: Mapping[TopicPartition, TopicIdPair]
) -> PartitionStatus:
    partition = TopicPartition(receipt.topic, receipt.partition)
    return PartitionStatus(
        topic=receipt.topic,
        partition=receipt.partition,
        flow=receipt.flow,
        position=receipt.position,
        source_end=receipt.source_end,
        copied_ms=receipt.copied_ms,
        state=receipt.state,
        error=receipt.error,
        mark=receipt.mark,
        origin=origins.get(partition, TopicIdPair()),
        throttled=receipt.throttled,
    )
