"""What becomes of a partition of a link: it is fetched on, goes back, waits for a while, or fails for now."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from heliograph.client.admin.topics import topic_config
from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.copy.buffer_pool import BufferPool
from heliograph.copy.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.copy.producer_snapshots import ProducerSnapshots
from heliograph.copy.quarantine import Quarantine
from heliograph.errors import ClientError
from heliograph.model import PartitionState

log = logging.getLogger(__name__)

_QUIET_SECONDS = 1.0


class SubscriptionState:
    """Of one link; its thread's. Law: only a partition in `Fetcher.positions` is fetched, and nobody else
    puts one there."""

    def __init__(
        self,
        flow: str,
        copies: Iterable[Partition],
        *,
        target: ClusterClient,
        fetcher: Fetcher,
        room: BufferPool,
        quarantine: Quarantine,
        syncs: Syncs,
        trails: ProducerSnapshots,
    ) -> None:
        self.unfounded = set(copies)  # not to be fetched before they have a footing
        for copy in self.unfounded:
            copy.recovering = True
        self._flow = flow
        self._target = target
        self._fetcher = fetcher
        self._room = room
        self._quarantine = quarantine
        self._syncs = syncs
        self._trails = trails
        self._quiet_until = 0.0

    def due(self, now: float) -> list[Partition]:
        """Those to be given a footing now."""
        return [
            copy
            for copy in self.unfounded
            if (copy.retry_at or 0.0) <= now and not copy.outstanding and not copy.halted
        ]

    def found(self, copies: Iterable[Partition]) -> None:
        for copy in copies:
            self.unfounded.discard(copy)
            copy.recovering = False
            if copy.state is PartitionState.FAILED:
                self._try_again(copy)
            self.resume(copy)

    def look_again(self, copy: Partition) -> None:
        self.unfounded.add(copy)
        copy.recovering = True
        self._fetcher.positions.pop(copy.source, None)

    def resume(self, copy: Partition) -> None:
        """Fetch on from `position`, unless the lease is read to its end or the partition is in trouble."""
        self._syncs.moved = self._trails.moved = True
        end = copy.end
        unfit = copy.state is PartitionState.FAILED or copy in self.unfounded or copy.suspected
        waits = self._room.is_stalled(copy) or self._quarantine.holds(copy)
        if unfit or waits or (end is not None and copy.position >= end):
            self._fetcher.positions.pop(copy.source, None)
        else:
            self._fetcher.positions[copy.source] = copy.position

    def retry(self, copy: Partition, now: float) -> None:
        """Go back and try again, if it is time to."""
        due = copy.retry_at is not None and copy.retry_at <= now and not copy.outstanding
        if due and copy not in self.unfounded:
            self.rewind(copy)

    def rewind(self, copy: Partition) -> None:
        """Go back to what is acknowledged and try again from there."""
        self._try_again(copy)
        copy.retry_at = None
        copy.position = copy.acked
        self._room.moves(copy)
        self.resume(copy)

    def _try_again(self, copy: Partition) -> None:
        if copy.max_bytes is not None:
            self.learn_max_bytes(copy)  # somebody may have raised it: that is what we wait for
        if copy.state is PartitionState.FAILED:
            copy.state = PartitionState.RETRYING

    def stall(self, copy: Partition, error: str) -> None:
        """Its target takes nothing just now; what is under way is sent again by the producer."""
        self._room.stalls(copy)
        self.hesitate(copy, error)
        self._fetcher.positions.pop(copy.source, None)

    def hesitate(self, copy: Partition, error: str) -> None:
        """Said at most once a second: a broker that goes takes a thousand partitions with it."""
        now = time.monotonic()
        if copy.error != error and now >= self._quiet_until:
            self._quiet_until = now + _QUIET_SECONDS
            log.warning("%s; trying again (others may wait, too: heliograph status)", error)
        copy.state, copy.error = PartitionState.RETRYING, error

    def fail(self, copy: Partition, error: str) -> None:
        if copy.error != error:
            log.error("%s", error)
        copy.state, copy.error = PartitionState.FAILED, error
        copy.retry_at = time.monotonic() + copy.backoff.next()
        self._fetcher.positions.pop(copy.source, None)

    def learn_max_bytes(self, copy: Partition) -> bool:
        """Whether knowing the target's limit lets us cut batches to size; false if we already did."""
        try:
            value = topic_config(self._target, copy.target.topic, "max.message.bytes")
        except ClientError as e:
            log.warning("flow %s: %s", self._flow, e)
            return False
        known, copy.max_bytes = copy.max_bytes, int(value) if value else None
        return copy.max_bytes is not None and copy.max_bytes != known
