"""Counters and times that tasks measure, and that receipts and task reports carry to the driver."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

#: Upper bounds of the buckets of a histogram, in seconds; one more bucket has what is longer.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
_NONE = (0,) * (len(BOUNDS) + 1)


class BatchCounts(NamedTuple):
    """Batches of the source, by what became of them.

    passed        copied as they are
    repacked      copied in new batches: compacted, split, of an old format or with LogAppendTime
    recompressed  of these: had to be compressed again
    aborted       dropped: of an aborted transaction
    control       dropped: markers of transactions
    """

    passed: int = 0
    repacked: int = 0
    recompressed: int = 0
    aborted: int = 0
    control: int = 0

    def plus(self, other: BatchCounts) -> BatchCounts:
        if not any(self):
            return other
        return BatchCounts(*map(sum, zip(self, other, strict=True)))


class Times(NamedTuple):
    """Durations in seconds. `count`, `total` and `buckets` only grow; `least` and `most` are of the durations
    since the last report (infinite if there was none), `last` is the newest one."""

    count: int = 0  # type: ignore[assignment]  # hides tuple.count, which is not used
    total: float = 0.0
    buckets: tuple[int, ...] = _NONE
    last: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def plus(self, other: Times) -> Times:
        """With the durations of an earlier or another measurement."""
        if not other.count:
            return self
        if not self.count:
            return other
        return Times(
            self.count + other.count,
            self.total + other.total,
            tuple(map(sum, zip(self.buckets, other.buckets, strict=True))),
            self.last,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    def reported(self) -> Times:
        """After a report: without the extremes."""
        return self._replace(least=math.inf, most=-math.inf) if self.most >= self.least else self

    def with_extremes(self, older: Times) -> Times:
        """With those of an older report of the same durations, which was not sent."""
        return self._replace(least=min(self.least, older.least), most=max(self.most, older.most))

    @property
    def is_news(self) -> bool:
        return self.most >= self.least

    def row(self) -> Sequence[Any] | None:
        """Its JSON form, which is short if nothing was measured: there may be thousands in a line."""
        if not self.count:
            return None
        return (*self[:2], self.buckets if any(self.buckets) else (), *self[3:])

    @classmethod
    def of(cls, row: Sequence[Any] | None) -> Times:
        """From its JSON form."""
        if row is None:
            return cls()
        count, total, buckets, last, least, most = row
        return cls(count, total, tuple(buckets) or _NONE, last, least, most)


NO_BATCHES = BatchCounts()
NO_TIMES = Times()


class Stopwatch:
    """Collects durations, in buckets if `distributed`; for one thread. Another may call `read`, whose parts
    may be a moment apart."""

    __slots__ = ("_buckets", "_count", "_distributed", "_last", "_least", "_most", "_total")

    def __init__(self, *, distributed: bool = True) -> None:
        self._distributed = distributed
        self._count, self._total, self._last = 0, 0.0, 0.0
        self._least, self._most = math.inf, -math.inf
        self._buckets = list(_NONE)

    def note(self, seconds: float, count: int = 1) -> None:
        """`count` durations of this length."""
        self._count += count
        self._total += seconds * count
        if self._distributed:
            self._buckets[bisect_left(BOUNDS, seconds)] += count
        self._last = seconds
        if seconds < self._least:  # no call of min: this is called with every batch
            self._least = seconds
        if seconds > self._most:
            self._most = seconds

    def read(self) -> Times:
        return Times(
            self._count, self._total, tuple(self._buckets), self._last, self._least, self._most
        )

    def take(self) -> Times:
        """As `read`; the extremes start anew."""
        times = self.read()
        self._least, self._most = math.inf, -math.inf
        return times


def sooner(one: float | None, other: float | None) -> float | None:
    """The earlier of two times; None is unknown."""
    return min((each for each in (one, other) if each is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReport:
    """What a client of one cluster has done. Bytes are those on the wire, and `requests` are the fetch or
    produce requests that were answered. `broker_certificate_ends` and `client_certificate_ends`: when the
    first certificate of a broker, and that of this client, expires, in seconds since 1970; None: without TLS,
    or without a certificate of its own."""

    cluster: str
    connections: int = 0
    login_failures: int = 0
    reachable: bool = True
    received_bytes: int = 0
    sent_bytes: int = 0
    requests: Times = NO_TIMES
    broker_certificate_ends: float | None = None
    client_certificate_ends: float | None = None

    def plus(self, other: ClientReport) -> ClientReport:
        return ClientReport(
            cluster=self.cluster,
            connections=self.connections + other.connections,
            login_failures=self.login_failures + other.login_failures,
            reachable=self.reachable,
            received_bytes=self.received_bytes + other.received_bytes,
            sent_bytes=self.sent_bytes + other.sent_bytes,
            requests=self.requests.plus(other.requests),
            broker_certificate_ends=sooner(
                self.broker_certificate_ends, other.broker_certificate_ends
            ),
            client_certificate_ends=sooner(
                self.client_certificate_ends, other.client_certificate_ends
            ),
        )

    def ended(self) -> ClientReport:
        """Of a client that is gone: its counters count on, its certificates do not matter any more."""
        return replace(self, broker_certificate_ends=None, client_certificate_ends=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """One flow in one task, measured since the epoch began.

    throttled_seconds   for which throttle.bytes.per.second has delayed fetches
    fetches, produces   requests in flight
    buffered_bytes      records in memory, of at most `buffer_bytes`
    active_records      records fetched and not acknowledged yet
    offset_commits      how long it took to store offsets
    memory_bytes        resident memory of the task's Python process, which all its flows share
    """

    flow: str
    throttled_seconds: float = 0.0
    fetches: int = 0
    produces: int = 0
    buffered_bytes: int = 0
    buffer_bytes: int = 0
    active_records: int = 0
    offset_commits: Times = NO_TIMES
    memory_bytes: int = 0
    source: ClientReport
    target: ClientReport
