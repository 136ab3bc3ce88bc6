"""Translates offsets exactly: an ascending list of upstream ranges and their downstream offsets.

    upstream    0 ···· 99 | marker | 101 ·· 150 | ? ? ? | 160 ···        ? mirrored to unknown offsets
    downstream  0 ···· 99 |          100 ·· 149 |       | 155 ···
    ranges      (0, 0, 100)         (101, 100, 50)       (160, 155, …)

Copying whole batches gives few ranges: consecutive offsets stay consecutive, and only records that are not
mirrored (markers, aborted or compacted records) begin a new one. A group's offset inside a range translates
to the same record.

If two ranges meet downstream, nothing between them was mirrored. If they do not, history is missing (a crash
after the copy and before its range was stored, a foreign writer), and offsets between them are not
translated: so a lost range costs precision, and never puts a group ahead of the truth.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from heliograph.model import OffsetRange

__all__ = ["LOST", "MAX_RANGES", "OffsetMap", "OffsetRange"]

#: Downstream offset of a range that was mirrored to unknown offsets.
LOST = -1
#: Per partition. Older ones are dropped: a source of small transactions adds one with each.
MAX_RANGES = 32_000
_FORGOTTEN_AT_ONCE = 1000


class OffsetMap:
    """The ranges of one partition, ascending on both sides. 24 bytes each."""

    __slots__ = ("_count", "_downstream", "_upstream")

    def __init__(self, ranges: Iterable[OffsetRange] = ()) -> None:
        self._upstream = array("q")
        self._downstream = array("q")
        self._count = array("q")
        for each in ranges:
            self.append(each)

    def __len__(self) -> int:
        return len(self._upstream)

    def __iter__(self) -> Iterator[OffsetRange]:
        return map(OffsetRange, self._upstream, self._downstream, self._count)

    @property
    def last(self) -> OffsetRange | None:
        if not self._upstream:
            return None
        return OffsetRange(self._upstream[-1], self._downstream[-1], self._count[-1])

    def append(self, each: OffsetRange) -> None:
        """Add the newest range. Law: appending the same again, or a range in parts, gives the same map.

        A lower upstream offset (a rewind) drops everything from there on, a lower downstream offset (a
        target that was truncated or created again) everything that was there.
        """
        upstream, downstream, count = each
        if self._goes_on(upstream, downstream):
            self._count[-1] += count
            return
        self._forget_upstream(upstream)
        if downstream != LOST:
            self._forget_downstream(downstream)
        if not self._merged(upstream, downstream, count):
            self._upstream.append(upstream)
            self._downstream.append(downstream)
            self._count.append(count)
        if len(self) > MAX_RANGES:
            self._drop_first(_FORGOTTEN_AT_ONCE)

    def translate(self, upstream: int) -> int | None:
        """The downstream offset of the first record mirrored at or after `upstream`; after the last record,
        that of the next one. None: not known."""
        at = bisect_right(self._upstream, upstream) - 1
        if at < 0 or self._downstream[at] == LOST:
            return None
        past = upstream - self._upstream[at]
        count = self._count[at]
        if past < count:
            return self._downstream[at] + past
        end = self._downstream[at] + count
        if at + 1 == len(self):
            return end if past == count else None
        return end if self._downstream[at + 1] == end else None

    def upstream_at(self, downstream: int) -> int | None:
        """The upstream offset after the last record known to be before `downstream`. None: nothing is known
        of that part."""
        known = (
            at for at in range(len(self) - 1, -1, -1) if LOST < self._downstream[at] <= downstream
        )
        if (at := next(known, None)) is None:
            return None
        return self._upstream[at] + min(self._count[at], downstream - self._downstream[at])

    def is_placed(self, downstream: int) -> bool:
        """Whether `upstream_at` is exact there: the map has the record before `downstream`, or the one at it.
        Elsewhere history is missing, or another writer has written."""
        return any(
            LOST < each.downstream <= downstream <= each.downstream + each.count for each in self
        )

    def has_lost_from(self, upstream: int) -> bool:
        """Whether records at or behind `upstream` were mirrored to an unknown place."""
        return any(each.downstream == LOST and each.end > upstream for each in self)

    def take(self, most: int) -> tuple[OffsetRange, ...]:
        """Remove and return the oldest `most` ranges."""
        taken = map(OffsetRange, self._upstream[:most], self._downstream[:most], self._count[:most])
        result = tuple(taken)
        self._drop_first(most)
        return result

    def prune(self, log_start: int) -> None:
        """Drop ranges that end at or before this upstream offset: no group can be there any more."""
        keep = bisect_right(self._upstream, log_start) - 1
        if keep >= 0 and self._upstream[keep] + self._count[keep] <= log_start:
            keep += 1
        if keep > 0:
            self._drop_first(keep)

    def _forget_upstream(self, upstream: int) -> None:
        if not self._upstream or upstream >= self._upstream[-1] + self._count[-1]:
            return
        self._truncate(bisect_left(self._upstream, upstream))
        if self._upstream:
            self._count[-1] = min(self._count[-1], upstream - self._upstream[-1])

    def _forget_downstream(self, downstream: int) -> None:
        keep = len(self)
        for at in range(len(self) - 1, -1, -1):
            if self._downstream[at] == LOST:
                continue
            if self._downstream[at] + self._count[at] <= downstream:
                break
            keep = at
        if keep == len(self):
            return
        left = downstream - self._downstream[keep]
        if left > 0:
            self._count[keep] = left
            keep += 1
        lost = [each for each in list(self)[keep:] if each.downstream == LOST]
        self._truncate(keep)
        if lost and downstream:  # where their records stand is not known: perhaps before it
            self._upstream.append(lost[0].upstream)
            self._downstream.append(LOST)
            self._count.append(lost[-1].end - lost[0].upstream)

    def _merged(self, upstream: int, downstream: int, count: int) -> bool:
        """Whether it was merged into the last range, or is empty and LOST, which has no meaning."""
        if downstream == LOST and not count:
            return True
        if not self._upstream:
            return False
        last_upstream, last_downstream = self._upstream[-1], self._downstream[-1]
        last_count = self._count[-1]
        if downstream == LOST and last_downstream == LOST:
            self._count[-1] = upstream + count - last_upstream
            return True
        if self._goes_on(upstream, downstream):  # after what followed was dropped
            self._count[-1] += count
            return True
        meets = last_downstream != LOST and downstream == last_downstream + last_count
        if not last_count and (not meets or self._meets_before_last(downstream)):
            # An empty range that is wrong, or that its two neighbours imply.
            self._truncate(len(self) - 1)
        return False

    def _goes_on(self, upstream: int, downstream: int) -> bool:
        if not self._upstream or downstream == LOST or self._downstream[-1] == LOST:
            return False
        count = self._count[-1]
        return upstream == self._upstream[-1] + count and downstream == self._downstream[-1] + count

    def _meets_before_last(self, downstream: int) -> bool:
        if len(self) < 2 or self._downstream[-2] == LOST:
            return False
        return self._downstream[-2] + self._count[-2] == downstream

    def _truncate(self, length: int) -> None:
        del self._upstream[length:], self._downstream[length:], self._count[length:]

    def _drop_first(self, number: int) -> None:
        del self._upstream[:number], self._downstream[:number], self._count[:number]
