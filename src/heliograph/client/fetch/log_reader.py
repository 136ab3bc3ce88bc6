"""Reads partitions from given offsets as far as the caller wants, then stops.

Internal topics, the end of a target's log and the ages of uncopied records are read through `LogReader`; only
the copy loop drives a `Fetcher` itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.poller import wait
from heliograph.errors import BrokerError, ConnectionLost, CorruptRecords, Interrupted
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record, decode
from heliograph.records.select import select
from heliograph.wire.fetch import FetchedPartition, FetchLimits
from heliograph.wire.messages import broker_error, error_is_retriable

_WAIT_SECONDS = 0.1

#: `read(partition, position, answer)` takes what was fetched at `position` and returns the next position, or
#: None if the partition is finished. CorruptRecords or Unreadable gives up on the partition.
Read = Callable[[TopicPartition, int, FetchedPartition], int | None]


class Unreadable(Exception):
    """Raised by a `Read` to give up on a partition; the message says why."""


class LogReader:
    """Reads partitions with one fetcher; for one thread.

    `unreadable` has the partitions that were given up, with the reason: the broker's answer is not retriable,
    or `read` raised. With `strict` the first of them ends the run and is raised.

    `is_end(partition, end)` decides whether a partition is finished whose fetch returned no record; `end` is
    as far as its leader lets us read. Without it, such a partition is fetched again.
    """

    def __init__(
        self,
        cluster: ClusterClient,
        read: Read,
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        limits: FetchLimits | None = None,
        is_end: Callable[[TopicPartition, int], bool] | None = None,
        strict: bool = False,
    ) -> None:
        self.unreadable: dict[TopicPartition, str] = {}
        self._cluster = cluster
        self._read = read
        self._isolation_level = isolation_level
        self._limits = limits or FetchLimits()
        self._is_end = is_end
        self._strict = strict
        self._failure: Exception | None = None
        #: Of partitions that are not finished.
        self.positions: dict[TopicPartition, int] = {}

    def run(self, starts: Mapping[TopicPartition, int], *, patience: float) -> set[TopicPartition]:
        """Read from `starts` on; the partitions that are not finished after `patience` seconds.

        Raises Interrupted if the cluster's client is stopped before.
        """
        fetcher = Fetcher(
            self._cluster,
            isolation_level=self._isolation_level,
            limits=self._limits,
            on_records=self.take,
            on_nothing=self._on_nothing,
        )
        self.positions = fetcher.positions
        self.positions |= starts
        deadline = time.monotonic() + patience
        try:
            while self.positions and self._failure is None:
                self._check_stop()
                fetcher.send()
                wait(fetcher.connections(), _WAIT_SECONDS)
                fetcher.pump()
                if time.monotonic() > deadline:
                    break
        finally:
            fetcher.close()
        if self._failure is not None:
            raise self._failure
        return set(self.positions)

    def take(self, answer: FetchedPartition) -> None:
        key = TopicPartition(answer.topic, answer.partition)
        if answer.error:
            if not error_is_retriable(answer.error):
                self._give_up(key, broker_error(answer.error, f"{self._alias}: {key}"))
            return
        try:
            position = self._read(key, self.positions[key], answer)
        except (CorruptRecords, Unreadable) as e:
            self._give_up(key, e)
            return
        if position is None:
            del self.positions[key]
        else:
            self.positions[key] = position

    @property
    def _alias(self) -> str:
        return self._cluster.config.alias

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        if self._is_end is None:
            return
        for key, end in ends.items():
            if self._is_end(key, end):
                self.positions.pop(key, None)

    def _give_up(self, key: TopicPartition, error: Exception) -> None:
        """Does not raise: a fetcher takes a ClientError out of its callback for a broken connection."""
        del self.positions[key]
        self.unreadable[key] = str(error) if isinstance(error, BrokerError) else f"{key}: {error}"
        if self._strict:
            self._failure = error

    def _check_stop(self) -> None:
        if self._cluster.stopped():
            raise Interrupted(f"{self._alias}: {min(self.positions)}: stopped while it was read")


def read_between(
    cluster: ClusterClient,
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    on_records: Callable[[TopicPartition, list[Record]], None],
    *,
    patience: float,
) -> None:
    """Hand over all committed records from each start up to its end, in order per partition.

    Raises ClientError, or CorruptRecords.
    """
    alias = cluster.config.alias

    def read(key: TopicPartition, position: int, answer: FetchedPartition) -> int | None:
        selection = select(answer.records, position=position, aborted=answer.aborted)
        for batch in selection.batches:
            records = decode(batch.data, subject=f"{alias}: {key}")
            # A fetch returns whole batches: the first may start before, the last end after.
            on_records(key, [r for r in records if position <= r.offset < ends[key]])
        return selection.position if selection.position < ends[key] else None

    reader = LogReader(
        cluster,
        read,
        isolation_level=IsolationLevel.READ_COMMITTED,
        is_end=lambda key, end: end >= ends[key],  # compaction has removed everything up to it
        strict=True,
    )
    left = reader.run({p: at for p, at in starts.items() if at < ends[p]}, patience=patience)
    if left:
        raise ConnectionLost(f"{alias}: {min(left)} could not be read to its end in {patience:g} s")
