"""Writes producer snapshots, from which a successor resumes, to the state topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.partition import Partition
from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import ProducerSnapshot

#: A successor reads the source again from the snapshot on: about one second of records.
_EVERY_SECONDS = 1.0
#: The next write is due after this many times the duration of the last one: at most a twentieth of the time.
_REST = 20


class ProducerSnapshots:
    """Written for partitions that have advanced: about once a second, before an offset is stored, and before
    the first record of a new producer id is sent, so that every producer with records on the target has a
    snapshot. `explain` writes the offset map up to the snapshots; it is called first."""

    def __init__(self, writer: BackgroundWriter, explain: Callable[[], None]) -> None:
        self.moved = False  # whether any copy may have moved since snapshots were last written
        self._writer = writer
        self._explain = explain
        self._written: dict[Partition, ProducerSnapshot] = {}
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
        self._written |= news
        records = [
            ProducerSnapshotRecord(
                topic_partition=copy.source, remote_topic=copy.target.topic, snapshot=snapshot
            )
            for copy, snapshot in news.items()
        ]
        self._writer.offer((record.key(), record.value()) for record in records)

    def write_now(self, copies: Iterable[Partition], patience: float) -> None:
        """Write and wait, at most `patience` seconds, and not if the state topic has a problem."""
        self.write(copies)
        self._writer.wait_idle(patience)

    @property
    def settled(self) -> bool:
        """Whether everything is written so far, or cannot be written."""
        return self._writer.settled

    @property
    def problem(self) -> str:
        return self._writer.problem or f"{self._writer.topic} has not acknowledged it yet"

    def _news(self, copy: Partition) -> ProducerSnapshot | None:
        snapshot = copy.snapshot
        return snapshot if snapshot is not None and self._written.get(copy) != snapshot else None
