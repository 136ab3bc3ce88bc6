"""Trails of a link's partitions, on their way to the state topic: what a successor resumes by."""

from __future__ import annotations

from collections.abc import Iterable

from heliograph.copy.background_writer import SideWriter
from heliograph.copy.partition import PartitionCopy
from heliograph.mm2.state_records import TrailRecord
from heliograph.model import Trail

#: A successor reads upstream from the trail on: a second's worth of records, once.
_EVERY_SECONDS = 1.0


class Trails:
    """Of partitions that have moved, about once a second; before an offset is stored; and before the first
    record of a producer goes out, so that nobody ever finds records of a producer that no trail names."""

    def __init__(self, writer: SideWriter) -> None:
        self.moved = False  # whether any copy may have moved since trails were last written
        self._writer = writer
        self._told: dict[PartitionCopy, Trail] = {}
        self._next = 0.0

    def tick(self, now: float, copies: Iterable[PartitionCopy]) -> None:
        if self.moved and now >= self._next:
            self.moved = False
            self._next = now + _EVERY_SECONDS
            self.write(copies)

    def write(self, copies: Iterable[PartitionCopy]) -> None:
        news = {copy: trail for copy in copies if (trail := self._news(copy)) is not None}
        self._told |= news
        records = [
            TrailRecord(topic_partition=copy.source, remote_topic=copy.target.topic, trail=trail)
            for copy, trail in news.items()
        ]
        self._writer.offer((record.key(), record.value()) for record in records)

    def write_now(self, copies: Iterable[PartitionCopy], patience: float) -> None:
        """Returns once they are written; or without, if the state topic is in trouble, which is said."""
        self.write(copies)
        self._writer.wait_idle(patience)

    def _news(self, copy: PartitionCopy) -> Trail | None:
        trail = copy.trail
        return trail if trail is not None and self._told.get(copy) != trail else None
