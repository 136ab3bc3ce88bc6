"""The progress of the mirror, summed up from the receipts of its tasks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from heliograph.measured import NO_BATCHES, NO_TIMES, BatchCounts, Times
from heliograph.metrics.windows import Counted, Window
from heliograph.model import Lease, PartitionState, Receipt, TopicPartition
from heliograph.runtime.metering.task_reports import TaskReports


@dataclass(slots=True)
class PartitionView:
    """One partition of a flow: totals over all epochs, and its newest receipt."""

    receipt: Receipt
    settled_records: int = 0
    settled_bytes: int = 0
    settled_foreign: int = 0
    settled_fallbacks: int = 0
    settled_quarantined: int = 0
    settled_skipped: int = 0
    settled_resumes: int = 0
    settled_batches: BatchCounts = NO_BATCHES
    settled_latencies: Times = NO_TIMES
    task: int = 0
    copied_ms: int = -1  # of any epoch, as is the next
    newest_ms: int = -1
    #: When it was first seen behind the source's end since it was last there; None: not known.
    behind_since: float | None = None
    window: Window = field(default_factory=Window)
    _shown: PartitionProgress | None = None

    def update(self, receipt: Receipt, now: float) -> None:
        """A receipt of the running epoch; `now` in seconds since 1970."""
        was_at_end = self.lag == 0
        self.receipt = receipt
        self.copied_ms = max(self.copied_ms, receipt.copied_ms)
        self.newest_ms = max(self.newest_ms, receipt.newest_ms)
        if was_at_end and self.lag:
            self.behind_since = now
        ages, latencies = receipt.ages, receipt.latencies
        self.window.note(Counted(receipt.records, receipt.bytes, ages, latencies), now)

    def settle(self, receipt: Receipt) -> None:
        """Add the counters of an epoch's last receipt to the totals: the next epoch counts from 0."""
        self.settled_records += receipt.records
        self.settled_bytes += receipt.bytes
        self.settled_foreign += receipt.foreign
        self.settled_fallbacks += receipt.fallbacks
        self.settled_quarantined += receipt.quarantined
        self.settled_skipped += receipt.skipped
        self.settled_resumes += receipt.resumes
        self.settled_batches = self.settled_batches.plus(receipt.batches)
        self.settled_latencies = self.settled_latencies.plus(receipt.latencies.reported())
        self.window.restart()
        self.receipt = _without_counters(receipt)

    def mark_retrying(self, cause: str) -> None:
        if self.receipt.state is PartitionState.RUNNING:
            self.receipt = replace(self.receipt, state=PartitionState.RETRYING, error=cause)

    @property
    def records(self) -> int:
        return self.settled_records + self.receipt.records

    @property
    def bytes(self) -> int:
        return self.settled_bytes + self.receipt.bytes

    @property
    def foreign(self) -> int:
        """Records of other writers on the remote partition."""
        return self.settled_foreign + self.receipt.foreign

    @property
    def fallbacks(self) -> int:
        """How often it resumed at least once, so that duplicates are possible."""
        return self.settled_fallbacks + self.receipt.fallbacks

    @property
    def quarantined(self) -> int:
        """Records that were not mirrored."""
        return self.settled_quarantined + self.receipt.quarantined

    @property
    def skipped(self) -> int:
        """Records that were left out, because they failed in a lane."""
        return self.settled_skipped + self.receipt.skipped

    @property
    def resumes(self) -> int:
        return self.settled_resumes + self.receipt.resumes

    @property
    def batches(self) -> BatchCounts:
        return self.settled_batches.plus(self.receipt.batches)

    @property
    def latencies(self) -> Times:
        return self.settled_latencies.plus(self.receipt.latencies)

    def shown(self) -> PartitionProgress:
        """The same object until there is another receipt."""
        if self._shown is None or self._shown.receipt is not self.receipt:
            receipt = self.receipt
            self._shown = PartitionProgress(
                (receipt.flow, TopicPartition(receipt.topic, receipt.partition)),
                receipt,
                self.records,
                self.bytes,
                self.lag,
                self.quarantined,
            )
        return self._shown

    def lag_seconds(self, now: float) -> float | None:
        """How long the next record to copy has waited, at most: since the newest timestamp copied, or since
        it was last at the end of the source, if that is later. None: not known."""
        if self.lag is None or self.lag == 0:
            return None if self.lag is None else 0.0
        newest = self.newest_ms / 1000 if self.newest_ms >= 0 else None
        known = [each for each in (newest, self.behind_since) if each is not None]
        return max(now - max(known), 0.0) if known else None

    @property
    def lag(self) -> int | None:
        """Records of the source that are not on the target yet; None before the first fetch."""
        end = self.receipt.source_end
        return None if end < 0 else max(end - self.receipt.position, 0)


class PartitionProgress(NamedTuple):
    """The newest receipt of a partition, with totals over all epochs. `lag` None: not known yet."""

    key: tuple[str, TopicPartition]
    receipt: Receipt
    records: int
    bytes: int
    lag: int | None
    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProgress:
    flow: str
    topic: str
    partitions: int
    records: int
    bytes: int
    lag: int | None
    troubled: tuple[Receipt, ...] = ()


@dataclass(slots=True)
class Progress:
    """Written by the driver's thread, read by any."""

    epoch: int = 0
    restarts: int = 0  # after failures
    epochs: int = 0  # begun
    pause_seconds: float = 0.0  # between the end of an epoch and the first receipts of the next
    tasks: TaskReports = field(default_factory=TaskReports)
    clock: Callable[[], float] = time.time
    _pause_since: float | None = None
    _tasks_of: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)
    _partitions: dict[tuple[str, TopicPartition], PartitionView] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, epoch: int, tasks: Sequence[Sequence[Lease]] = ()) -> None:
        with self._lock:
            self.epoch = epoch
            self.epochs += 1
            self._tasks_of = {
                (lease.flow, TopicPartition(lease.topic, lease.partition)): number
                for number, leases in enumerate(tasks)
                for lease in leases
            }
        self.tasks.begin()

    def pausing(self) -> None:
        """The epoch ends: nothing is copied until the next one."""
        with self._lock:
            if self._pause_since is None:
                self._pause_since = self.clock()

    def update(self, epoch: int, receipts: Iterable[Receipt]) -> bool:
        """Take the newest receipts of running tasks. False if they are of another epoch: counters start with
        the epoch, so late receipts cannot be added."""
        with self._lock:
            if epoch != self.epoch:
                return False
            now = self.clock()
            if self._pause_since is not None:
                self.pause_seconds += max(now - self._pause_since, 0.0)
                self._pause_since = None
            for receipt in receipts:
                self._view(receipt).update(receipt, now)
            return True

    def restart(self, cause: str) -> None:
        """The tasks ended without last receipts: their newest ones count."""
        with self._lock:
            self.restarts += 1
            self.epoch = -1
            for view in self._partitions.values():
                view.settle(view.receipt)
                view.mark_retrying(cause)

    def leave(self, flow: str, cause: str) -> None:
        """This service no longer copies the flow, but others."""
        with self._lock:
            for (name, _), view in self._partitions.items():
                if name == flow:
                    view.mark_retrying(cause)

    def forget(self, flow: str) -> None:
        """The flow was removed, or replaced by another of its name."""
        with self._lock:
            self._partitions = {k: v for k, v in self._partitions.items() if k[0] != flow}

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """The last receipts of an epoch: add their counters to the totals."""
        with self._lock:
            self.epoch = -1
            for receipt in receipts:
                self._view(receipt).settle(receipt)

    def topics(self) -> list[TopicProgress]:
        with self._lock:
            views = list(self._partitions.values())
        by_topic: dict[tuple[str, str], list[PartitionView]] = {}
        for view in views:
            by_topic.setdefault((view.receipt.flow, view.receipt.topic), []).append(view)
        return [_topic(flow, topic, views) for (flow, topic), views in sorted(by_topic.items())]

    def bytes_by_partition(self, flow: str) -> dict[TopicPartition, int]:
        with self._lock:
            return {key[1]: v.bytes for key, v in self._partitions.items() if key[0] == flow}

    def shared_partitions(self, flow: str) -> list[TopicPartition]:
        """Partitions of a flow to whose remote partitions other programs have written."""
        with self._lock:
            return [key[1] for key, v in self._partitions.items() if key[0] == flow and v.foreign]

    def fallback_partitions(self, flow: str) -> list[TopicPartition]:
        """Partitions of a flow in which duplicates are possible."""
        with self._lock:
            return [key[1] for key, v in self._partitions.items() if key[0] == flow and v.fallbacks]

    def skipped(self, flow: str) -> dict[TopicPartition, int]:
        """Records that were left out, for each partition of a flow that has any."""
        with self._lock:
            views = [(key[1], v) for key, v in self._partitions.items() if key[0] == flow]
        return {partition: v.skipped for partition, v in views if v.skipped}

    def quarantined(self, flow: str) -> dict[TopicPartition, int]:
        """Records that were not mirrored, for each partition of a flow that has any."""
        with self._lock:
            views = [(key[1], v) for key, v in self._partitions.items() if key[0] == flow]
        return {partition: v.quarantined for partition, v in views if v.quarantined}

    def views(self) -> list[tuple[str, TopicPartition, PartitionView]]:
        """Every partition; a view may change while it is read."""
        with self._lock:
            return [(flow, partition, v) for (flow, partition), v in self._partitions.items()]

    def partitions(self) -> list[PartitionProgress]:
        """Every partition as a value that no later receipt changes."""
        with self._lock:
            return [view.shown() for view in self._partitions.values()]

    def receipts(self) -> list[Receipt]:
        with self._lock:
            return [view.receipt for view in self._partitions.values()]

    @property
    def records(self) -> int:
        return sum(topic.records for topic in self.topics())

    def _view(self, receipt: Receipt) -> PartitionView:
        key = (receipt.flow, TopicPartition(receipt.topic, receipt.partition))
        view = self._partitions.setdefault(key, PartitionView(_without_counters(receipt)))
        view.task = self._tasks_of.get(key, view.task)
        return view


def _without_counters(receipt: Receipt) -> Receipt:
    return replace(
        receipt,
        records=0,
        bytes=0,
        foreign=0,
        fallbacks=0,
        quarantined=0,
        skipped=0,
        resumes=0,
        batches=NO_BATCHES,
        ages=NO_TIMES,
        latencies=NO_TIMES,
    )


def _topic(flow: str, topic: str, views: list[PartitionView]) -> TopicProgress:
    lags = [view.lag for view in views]
    good = (PartitionState.RUNNING, PartitionState.DONE)
    return TopicProgress(
        flow=flow,
        topic=topic,
        partitions=len(views),
        records=sum(view.records for view in views),
        bytes=sum(view.bytes for view in views),
        lag=None if None in lags else sum(lag for lag in lags if lag is not None),
        troubled=tuple(v.receipt for v in views if v.receipt.state not in good),
    )
