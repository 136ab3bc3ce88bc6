"""Measures how far a copy is behind in seconds, by when each end of the source's log was first seen. Pure.

end seen     100      140            200
time        12:00    12:01          12:02      position 150 at 12:03: the record at 150 was written
                                               between 12:01 and 12:02, so the copy is 1 min behind
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from heliograph.model import Receipt

#: Ends that are kept for each partition, and how far apart, so that an hour of lag can be told.
_ENDS = 720
_APART_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Behind:
    """`at_least`: the oldest record that waits was there before the first look."""

    seconds: float
    at_least: bool = False


@dataclass(slots=True)
class _Seen:
    """When an end was first seen; `first` is the end at the first look."""

    first: int
    ends: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_ENDS))


class LagClock:
    def __init__(self) -> None:
        self._partitions: dict[tuple[str, str, int], _Seen] = {}

    def look(self, now: float, receipts: Iterable[Receipt]) -> dict[tuple[str, str], Behind]:
        """By flow and topic, for topics whose ends are known: of the partition that is furthest behind."""
        found: dict[tuple[str, str], Behind] = {}
        for receipt in receipts:
            if receipt.source_end < 0:
                continue
            key = receipt.flow, receipt.topic
            behind = self._behind(now, receipt)
            if key not in found or behind.seconds > found[key].seconds:
                found[key] = behind
        return found

    def _behind(self, now: float, receipt: Receipt) -> Behind:
        key = receipt.flow, receipt.topic, receipt.partition
        seen = self._partitions.setdefault(key, _Seen(receipt.source_end))
        ends, end = seen.ends, receipt.source_end
        while ends and ends[0][1] <= receipt.position:
            ends.popleft()
        if end <= receipt.position:
            return Behind(0.0)
        if not ends or (end > ends[-1][1] and now - ends[-1][0] >= _APART_SECONDS):
            ends.append((now, end))
        return Behind(now - ends[0][0], at_least=receipt.position < seen.first)
