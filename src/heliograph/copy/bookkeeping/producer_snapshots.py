"""Producer snapshots on their way to the state topic: what a successor resumes by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.partition import Partition
from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import ProducerSnapshot

#: A successor reads the source from the snapshot on: a second's worth of records, once.
_EVERY_SECONDS = 1.0
#: Writing takes this part of the time at most, however many partitions there are.
_REST = 20


class ProducerSnapshots:
    """Of partitions that have moved, about once a second; before an offset is stored; and before the first
    record of a producer goes out: every producer whose records are on the target has a snapshot.
    `explain` writes the offset map of what they name, which comes first."""

    def __init__(self, writer: BackgroundWriter, explain: Callable[[], None]) -> None:
        self.moved = False  # whether any copy may have moved since snapshots were last written
        self._writer = writer
        self._explain = explain
        self._told: dict[Partition, ProducerSnapshot] = {}
        self._next = 0.0

    def tick(self, now: float, copies: Iterable[Partition]) -> None:
        if self.moved and now >= self._next:
            self.moved = False
            self.write(copies)
            took = time.monotonic() - now
            self._next = now + max(took * _REST, _EVERY_SECONDS)

    def write(self, copies: Iterable[Partition]) -> None:
        news = {copy: found for copy in copies if (found := self._news(copy)) is not None}
        if not news:
            return
        self._explain()
        self._told |= news
        records = [
            ProducerSnapshotRecord(
                topic_partition=copy.source, remote_topic=copy.target.topic, snapshot=snapshot
            )
            for copy, snapshot in news.items()
        ]
        self._writer.offer((record.key(), record.value()) for record in records)

    def write_now(self, copies: Iterable[Partition], patience: float) -> None:
        """Returns once they are written; or without, if the state topic is in trouble, which is said."""
        self.write(copies)
        self._writer.wait_idle(patience)

    @property
    def settled(self) -> bool:
        """Whether all that was written so far is there, or never will be."""
        return self._writer.settled

    @property
    def problem(self) -> str:
        return self._writer.problem or f"{self._writer.topic} takes its time"

    def _news(self, copy: Partition) -> ProducerSnapshot | None:
        snapshot = copy.snapshot
        return snapshot if snapshot is not None and self._told.get(copy) != snapshot else None
