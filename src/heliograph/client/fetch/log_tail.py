"""Follows one partition of an internal topic, committed records only."""

from __future__ import annotations

import logging

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.log_reader import read_between
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record

log = logging.getLogger(__name__)


class LogTail:
    """Follows one partition from its log start: each `read_new` reads up to the current end.

    After `read_new`, `missing` means that there is no such topic (yet), and `restarted` that the log is not
    the one read before (created again, or truncated): the records returned start at the log start again, and
    state built from earlier records must be rebuilt.
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
        """The next offset to read."""
        return self._position or 0

    @property
    def topic_id(self) -> str | None:
        """The id of the topic that was read last; None: not known."""
        return None if self._topic_id is None else str(self._topic_id)

    def read_new(self, *, patience: float = 30.0) -> list[Record]:
        topic = self.partition.topic
        metadata = self._cluster.refresh([topic])
        self.restarted = False
        self.missing = metadata.partitions.get(topic, 0) <= self.partition.partition
        if self.missing:
            self._start_over("does not exist any more")
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
        """Log start and last stable offset; no transaction before the latter is open."""
        start = list_offsets(self._cluster, [self.partition], EARLIEST)
        end = list_offsets(self._cluster, [self.partition], LATEST, IsolationLevel.READ_COMMITTED)
        return start[self.partition], end[self.partition]

    def _start_over(self, why: str) -> None:
        if self._position is not None:
            log.warning(
                "%s: %s %s; reading it from its start",
                self._cluster.config.alias,
                self.partition,
                why,
            )
            self.restarted = True
        self._position = self._topic_id = None
