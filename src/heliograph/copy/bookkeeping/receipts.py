"""Makes receipts of a copy loop's partitions in its own thread, for the task's thread to take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import replace

from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.copy.state.snapshots import acked_offsets, handover
from heliograph.measured import TaskReport
from heliograph.model import PartitionState, Receipt


class Receipts:
    """Receipts are published on request, each with the ranges and gaps since the previous one. `throttled`:
    the flow's byte rate has slowed the copy; `ended`: the epoch has ended, so receipts include snapshots."""

    def __init__(
        self,
        copies: Collection[Partition],
        syncs: Syncs,
        measure: Callable[[], TaskReport] | None = None,
    ) -> None:
        self._copies = copies
        self._syncs = syncs
        self.throttled = False
        self.ended = False
        self._last: dict[Partition, tuple[tuple[object, ...], Receipt]] = {}
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._published: list[Receipt] = []
        self._measure = measure
        self.report: TaskReport | None = None  # of the moment of the newest receipts

    # ── the task's thread ────────────────────────────────────────────────────────────────────

    def ask(self) -> None:
        self._asked.set()

    def take(self) -> list[Receipt]:
        """The newest receipt of each partition."""
        with self._lock:
            taken, self._published = self._published, [r.without_news() for r in self._published]
        return taken

    # ── the copy loop's thread ───────────────────────────────────────────────────────────────

    def publish_if_asked(self) -> None:
        if self._asked.is_set():
            self._asked.clear()
            self.publish()

    def publish(self) -> None:
        if self._measure is not None:
            self.report = self._measure()
        ranges = self._syncs.take_unreported()
        fresh = []
        for copy in self._copies:
            receipt, gaps, its_ranges = self._receipt(copy), copy.take_gaps(), ranges.get(copy, ())
            if gaps or its_ranges:
                receipt = replace(receipt, ranges=its_ranges, gaps=gaps)
            fresh.append(receipt)
        with self._lock:
            self._published = [
                _with_news_of(older, newer)
                for older, newer in zip(self._published or fresh, fresh, strict=True)
            ]

    def _receipt(self, copy: Partition) -> Receipt:
        """If nothing has changed, the same object as before, which is cheap to compare: of thousands of
        partitions most have not changed."""
        tally = copy.tally
        now = (copy.acked, tally.records, copy.source_end, copy.offset.position, copy.state, copy.error,
               tally.copied, tally.batches, tally.resumes, copy.foreign, copy.fallbacks, copy.source_mark,
               copy.recheck, copy.quarantined, copy.skipped, copy.wanted, self.throttled,
               self.ended)  # fmt: skip
        last = self._last.get(copy)
        if last is None or last[0] != now:
            fresh = receipt_of(copy, throttled=self.throttled, ended=self.ended)
            self._last[copy] = (now, fresh.without_news())
            return fresh
        return last[1]


def receipt_of(copy: Partition, *, throttled: bool = False, ended: bool = False) -> Receipt:
    return Receipt(
        flow=copy.lease.flow,
        topic=copy.lease.topic,
        partition=copy.lease.partition,
        position=copy.acked,
        records=copy.tally.records,
        bytes=copy.tally.bytes,
        source_end=copy.source_end,
        stored=copy.acked == copy.offset.position,
        state=PartitionState.DONE if copy.done else copy.state,
        error=None if copy.done else copy.error,
        copied_ms=int(copy.tally.copied * 1000) or -1,
        foreign=copy.foreign,
        fallbacks=copy.fallbacks,
        snapshot=handover(copy) if ended else None,
        acked_offsets=acked_offsets(copy) if ended else None,
        mark=copy.source_mark,
        generation=copy.lease.lineage.generation,
        recheck=copy.recheck,
        quarantined=copy.quarantined,
        skipped=copy.skipped,
        wanted=copy.wanted,
        throttled=throttled,
        newest_ms=copy.tally.newest_ms,
        resumes=copy.tally.resumes,
        batches=copy.tally.batches,
        ages=copy.tally.ages.take(),
        latencies=copy.tally.latencies.take(),
    )


def _with_news_of(older: Receipt, newer: Receipt) -> Receipt:
    """The newer receipt, with the news of the older one, which was not taken."""
    if older is newer or older is older.without_news():
        return newer
    return replace(
        newer,
        ranges=(*older.ranges, *newer.ranges),
        gaps=(*older.gaps, *newer.gaps),
        ages=newer.ages.with_extremes(older.ages),
        latencies=newer.latencies.with_extremes(older.latencies),
    )
