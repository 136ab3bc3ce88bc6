"""What deliveries of the raw copy and of lanes share: when bookkeeping is written, and how an epoch ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.poller import wait
from heliograph.copy.commits import Commits
from heliograph.copy.delivery import SIDE_SECONDS, LoopParts
from heliograph.errors import HeliographError

log = logging.getLogger(__name__)

#: How long the end of an epoch waits for acknowledgements, and again for the offsets to be stored.
_DRAIN_SECONDS = 3.0
#: How long it waits for the last transaction; after half of this time that is aborted.
_END_SECONDS = 3.0
#: The offset map is valid once its transaction is committed, so it is written at most this long after it.
_FLUSH_SECONDS = 1.0
_WAIT_SECONDS = 0.1


class OffsetsBehind:
    """At least once: offsets are stored after their records. `send` sends what can be sent without waiting;
    `mark` takes the positions acknowledged now."""

    def __init__(
        self, parts: LoopParts, send: Callable[[], None], mark: Callable[[], None]
    ) -> None:
        self._parts = parts
        self._send = send
        self._mark = mark
        self._next_flush = time.monotonic() + parts.flush_delay()

    def tick(self, now: float) -> None:
        if now >= self._next_flush:
            self._next_flush = now + self._parts.flow.offset_flush_interval_ms / 1000
            self._mark()
        if self._parts.offsets.marked and self._parts.state.settled:
            self._store()

    def finish(self) -> None:
        """Wait for what was sent, and store the offsets. What was never sent is abandoned before."""
        parts = self._parts
        self._drain()
        parts.require_leases()
        self._mark()
        parts.state.wait_idle(SIDE_SECONDS)
        parts.require_leases()
        if parts.state.settled:
            self._store()
        self._drain()

    def _store(self) -> None:
        self._parts.reach(self._parts.producers.offsets.cluster, self._parts.offsets.store)

    def _drain(self) -> None:
        self._parts.producers.drain(self._send, time.monotonic() + _DRAIN_SECONDS)

    def give_up_unless_idle(self) -> None:
        """What is still in flight may be appended or not."""
        if self._parts.producers.idle:
            return
        log.error(
            "flow %s: the target did not acknowledge within %.0f s; the last offsets are not stored, and "
            "records after the stored offsets may be copied again",
            self._parts.flow.name,
            _DRAIN_SECONDS,
        )
        for copy in self._parts.copies.values():
            copy.store(None)
        for connection in self._parts.producers.connections():
            connection.forget()


class OffsetsWithin:
    """Exactly once: offsets are committed with their records; syncs and the offset map follow. `backoff` is
    that of failing transactions."""

    def __init__(self, parts: LoopParts, commits: Commits, backoff: Backoff) -> None:
        self._parts = parts
        self._commits = commits
        self._backoff = backoff
        self._flushed = 0
        self._next_flush = 0.0

    def tick(self, now: float) -> None:
        if self._commits.count != self._flushed and now >= self._next_flush:
            self._flushed = self._commits.count
            self._next_flush = now + _FLUSH_SECONDS
            self._backoff.reset()
            self._parts.syncs.flush()

    def finish(self, send: Callable[[], None]) -> None:
        """Raises HeliographError if the outcome of the last transaction is not known."""
        commits, producer = self._commits, self._parts.producers.records
        commits.hurry()
        began = time.monotonic()
        while not commits.done and time.monotonic() < began + _END_SECONDS:
            self._parts.require_leases()
            send()
            wait(producer.connections(), commits.wait_seconds(time.monotonic(), _WAIT_SECONDS))
            producer.pump()
            if time.monotonic() > began + _END_SECONDS / 2:
                commits.void_unsettled("the epoch ends")
        if not commits.ended:
            # Whether it was committed is not known: the next epoch must read the stored offsets.
            raise HeliographError(
                f"flow {self._parts.flow.name}: the target did not end the transaction within "
                f"{_END_SECONDS:.0f} s; resuming from the stored offsets"
            )
        self._parts.syncs.flush()
        self._parts.state.wait_idle(SIDE_SECONDS)
