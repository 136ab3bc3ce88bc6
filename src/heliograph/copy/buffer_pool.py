"""How much a link may fetch, and whether it may fetch more: the bound on its memory (docs/limits.md)."""

from __future__ import annotations

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import Limits
from heliograph.copy.partition import Partition
from heliograph.copy.quarantine import Quarantine
from heliograph.wire.fetch import FetchLimits


def fetch_limits(limits: Limits) -> FetchLimits:
    return FetchLimits(
        max_wait_ms=limits.fetch_max_wait_ms,
        min_bytes=limits.fetch_min_bytes,
        max_bytes=limits.fetch_max_bytes,
        partition_max_bytes=limits.partition_fetch_bytes,
    )


class BufferPool:
    """Half of `buffer_memory` is for batches that move. What waits for a partition that cannot be written
    to has the other half, so that it keeps none of the others waiting. The answers that batches are parts
    of take all of it at most."""

    def __init__(
        self, buffer_memory: int, fetcher: Fetcher, producer: Producer, quarantine: Quarantine
    ) -> None:
        self._bytes = buffer_memory
        self._fetcher = fetcher
        self._producer = producer
        self._quarantine = quarantine
        self._stalled: set[Partition] = set()

    def stalls(self, copy: Partition) -> None:
        """The target cannot be written to just now."""
        self._stalled.add(copy)

    def moves(self, copy: Partition) -> None:
        self._stalled.discard(copy)

    def is_stalled(self, copy: Partition) -> bool:
        return copy in self._stalled

    def find(self) -> bool:
        """Whether there is any, or could be made."""
        if 2 * self._producer.buffered_bytes >= self._bytes:
            for copy in self._stalled:
                self._let_go(copy)
        buffered = self._producer.buffered_bytes
        if self._fetcher.held.bytes >= self._bytes or buffered >= self._bytes:
            return False
        return (
            2 * buffered < self._bytes or 2 * (buffered - self._producer.stuck_bytes) < self._bytes
        )

    def _let_go(self, copy: Partition) -> None:
        """What was not sent yet is read again when the partition can be written to."""
        dropped, retry_at = self._producer.release(copy.target)
        if dropped and retry_at is not None:
            copy.outstanding -= len(dropped)
            copy.position = dropped[0].first_offset
            self._quarantine.forget(copy)  # it comes behind what was dropped
            if not copy.outstanding:
                copy.retry_at = retry_at
