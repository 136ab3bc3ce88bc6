"""Bounds the memory of a copy loop: whether it may fetch more (docs/limits.md)."""

from __future__ import annotations

from collections.abc import Collection

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import Limits
from heliograph.copy.partition import Partition
from heliograph.wire.fetch import FetchLimits


def fetch_limits(limits: Limits) -> FetchLimits:
    return FetchLimits(
        max_wait_ms=limits.fetch_max_wait_ms,
        min_bytes=limits.fetch_min_bytes,
        max_bytes=limits.fetch_max_bytes,
        partition_max_bytes=limits.partition_fetch_bytes,
    )


class BufferPool:
    """Half of `buffer_memory` is for batches of partitions that make progress. The other half is for batches
    of partitions that cannot be written to, so that they do not block the others. The fetch responses that
    batches are slices of take at most all of it."""

    def __init__(
        self,
        buffer_memory: int,
        copies: Collection[Partition],
        fetcher: Fetcher,
        producer: Producer,
    ) -> None:
        self._bytes = buffer_memory
        self._copies = copies
        self._fetcher = fetcher
        self._producer = producer

    @property
    def limit(self) -> int:
        return self._bytes

    def has_room(self) -> bool:
        """Whether there is room, after dropping unsent batches of stalled partitions if necessary: also if
        they are few, but the responses that they are slices of are not."""
        if 2 * max(self._producer.buffered_bytes, self._fetcher.held.bytes) >= self._bytes:
            self._release_stalled()
        buffered = self._producer.buffered_bytes
        if self._fetcher.held.bytes >= self._bytes or buffered >= self._bytes:
            return False
        return (
            2 * buffered < self._bytes or 2 * (buffered - self._producer.stuck_bytes) < self._bytes
        )

    def _release_stalled(self) -> None:
        """Drop batches that were not sent; they are fetched again when the partition can be written to."""
        for copy in self._copies:
            if copy.stalled:
                dropped, retry_at = self._producer.release(copy.target)
                if dropped and retry_at is not None:
                    copy.released(dropped, retry_at)
