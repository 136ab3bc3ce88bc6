"""How many bytes a throttled fetcher requests at a time.

A broker cuts the last batch of a response at the number of bytes that was requested; that part is read, and
then once more with the next request. With rounds as small as two batches, half of the rate would be read
twice. Pure.
"""

from __future__ import annotations

from heliograph.records.batch import PREFIX

#: A round has room for this many batches, of which one is cut, in the mean in the middle.
_BATCHES = 8
#: It is at most this many times the size that is smooth: a second of the rate.
_MOST = 10


class RoundSize:
    """`smooth`: the size for a steady flow, a tenth of a second of the rate; None: there is no limit."""

    def __init__(self, smooth: int | None) -> None:
        self.smooth = smooth
        self._batch = 0

    @property
    def bytes(self) -> int | None:
        if self.smooth is None:
            return None
        return max(self.smooth, min(_BATCHES * self._batch, _MOST * self.smooth))

    def note(self, records: memoryview) -> None:
        """What one partition has in a response. The size of batches is forgotten within some responses."""
        if self.smooth is not None and records:
            self._batch = max(_largest(records), self._batch - self._batch // 8)


def _largest(records: memoryview) -> int:
    """Bytes of the largest batch, also of one that is cut."""
    largest = position = 0
    while len(records) - position >= PREFIX.size:
        size = PREFIX.size + max(PREFIX.unpack_from(records, position)[1], 0)
        largest, position = max(largest, size), position + size
    return largest
