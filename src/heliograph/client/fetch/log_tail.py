"""Internal topics read with committed records only, so that an aborted write is never believed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ConnectionLost, Interrupted
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record, decode
from heliograph.records.select import select
from heliograph.wire.fetch import FetchedPartition, FetchLimits
from heliograph.wire.messages import broker_error, error_is_retriable

log = logging.getLogger(__name__)


class LogTail:
    """Follows one partition from its log start: each `read_new` goes to the end as of that moment.

    After a `read_new`, `missing` says that there is no such topic (yet), and `restarted` that the log is not
    the one read before (created again, or truncated): what it returned is everything from the log start,
    and whatever was built from earlier records must be built anew.
    """

    def __init__(self, cluster: ClusterClient, topic: str, partition: int = 0) -> None:
        self.partition = TopicPartition(topic, partition)
        self.missing = False
        self.restarted = False
        self._cluster = cluster
        self._position: int | None = None
        self._topic_id: object = None

    @property
    def position(self) -> int:
        """What stands before this offset has been read."""
        return self._position or 0

    @property
    def topic_id(self) -> str | None:
        """Of the topic that was read last, as `str` gives it; None: not known."""
        return None if self._topic_id is None else str(self._topic_id)

    def read_new(self, *, patience: float = 30.0) -> list[Record]:
        topic = self.partition.topic
        metadata = self._cluster.refresh([topic])
        self.restarted = False
        self.missing = metadata.partitions.get(topic, 0) <= self.partition.partition
        if self.missing:
            self._start_over("has gone")
            return []
        start, end = self._bounds()
        topic_id = metadata.topic_ids.get(topic)
        if topic_id != self._topic_id:
            self._start_over("was created again")
            self._topic_id = topic_id
        elif self._position is not None and self._position > end:
            self._start_over(f"ends at {end}, before the position {self._position}")
        begin = max(start, self._position or 0)
        records: list[Record] = []
        read_between(
            self._cluster,
            {self.partition: begin},
            {self.partition: end},
            lambda _, batch: records.extend(batch),
            patience=patience,
        )
        self._position = max(begin, end)
        return records

    def _bounds(self) -> tuple[int, int]:
        """Log start, and the last stable offset: what lies before it is decided for good."""
        start = list_offsets(self._cluster, [self.partition], EARLIEST)
        end = list_offsets(self._cluster, [self.partition], LATEST, IsolationLevel.READ_COMMITTED)
        return start[self.partition], end[self.partition]

    def _start_over(self, why: str) -> None:
        if self._position is not None:
            log.warning(
                "%s: %s %s; reading it anew", self._cluster.config.alias, self.partition, why
            )
            self.restarted = True
        self._position = self._topic_id = None


def read_between(
    cluster: ClusterClient,
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    on_records: Callable[[TopicPartition, list[Record]], None],
    *,
    patience: float,
) -> None:
    """Hand over all committed records from each start up to its end, in order per partition."""
    reading = _Reading(cluster, starts, ends, on_records)
    fetcher = reading.fetcher
    done = fetcher.fetch_all(patience, lambda: reading.refusal is not None or cluster.stopped())
    if reading.refusal is not None:
        raise reading.refusal
    if not done:
        first = f"{cluster.config.alias}: {min(fetcher.positions)}"
        if cluster.stopped():
            raise Interrupted(f"{first}: stopped while it was read")
        raise ConnectionLost(f"{first} could not be read to its end in {patience:g} s")


class _Reading:
    def __init__(
        self,
        cluster: ClusterClient,
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
        on_records: Callable[[TopicPartition, list[Record]], None],
    ) -> None:
        self._alias = cluster.config.alias
        self._ends = ends
        self._on_read = on_records
        self.refusal: BrokerError | None = None
        self.fetcher = Fetcher(
            cluster,
            isolation_level=IsolationLevel.READ_COMMITTED,
            limits=FetchLimits(),
            on_records=self._on_records,
            on_nothing=self._on_nothing,
        )
        self.fetcher.positions = {p: at for p, at in starts.items() if at < ends[p]}

    def _on_records(self, answer: FetchedPartition) -> None:
        key = TopicPartition(answer.topic, answer.partition)
        if answer.error:
            # Not raised here: to a fetcher, what is raised means that the connection is of no use.
            if not error_is_retriable(answer.error):
                self.refusal = broker_error(answer.error, f"{self._alias}: {key}")
            return
        position = self.fetcher.positions[key]
        selection = select(answer.records, position=position, aborted=answer.aborted)
        for batch in selection.batches:
            records = decode(batch.data, subject=f"{self._alias}: {key}")
            # A fetch returns whole batches: the first may start below, the last end behind.
            self._on_read(key, [r for r in records if position <= r.offset < self._ends[key]])
        self.fetcher.positions[key] = selection.position
        if selection.position >= self._ends[key]:
            del self.fetcher.positions[key]

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        for key, end in ends.items():
            if end >= self._ends[key]:  # compaction has removed everything up to it
                self.fetcher.positions.pop(key, None)
