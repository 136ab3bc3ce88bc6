"""Turns fetch responses into events of a lane's partitions, and their records into batches to send."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.preparing import Carried, Rules, carry
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.source_events import fetch_failed
from heliograph.copy.subscription import SubscriptionState
from heliograph.counted import counted
from heliograph.model import IsolationLevel, LeaderEpochMark, TopicPartition
from heliograph.wire.fetch import FetchedPartition

log = logging.getLogger(__name__)

#: Records that are left out are named in the log this often.
_SAY_SECONDS = 60.0


class LaneSource:
    """Part of one copy loop. `rules(copy)`: heartbeats, for example, have another chain."""

    def __init__(
        self,
        flow: str,
        copies: Mapping[TopicPartition, LanePartition],
        *,
        isolation: IsolationLevel,
        rules: Callable[[LanePartition], Rules],
        outlet: Outlet,
        subscription: SubscriptionState,
        gaps: GapWatch,
        progressed: Callable[[], None],
    ) -> None:
        self._flow = flow
        self._copies = copies
        self._committed = isolation is IsolationLevel.READ_COMMITTED
        self._rules = rules
        self._outlet = outlet
        self._subscription = subscription
        self._gaps = gaps
        self._progressed = progressed
        self._said = -_SAY_SECONDS

    def fetched(self, answer: FetchedPartition) -> None:
        copy = self._copies[TopicPartition(answer.topic, answer.partition)]
        if answer.error:
            fetch_failed(self._flow, copy, answer.error, self._gaps, self._subscription)
            return
        copy.answered(answer.last_stable_offset if self._committed else answer.high_watermark)
        if answer.records:
            self._progressed()
            self._forward(copy, answer)

    def nothing_left(self, ends: Mapping[TopicPartition, int]) -> None:
        """No record is left below the end of a bounded lease: compaction has removed the rest."""
        for key, readable in ends.items():
            copy = self._copies[key]
            end = copy.lease.end
            if end is not None and copy.position < end <= readable:
                copy.read_to(end)
                self._subscription.obey(copy)

    def _forward(self, copy: LanePartition, answer: FetchedPartition) -> None:
        found = carry(copy, answer, self._rules(copy), int(time.time() * 1000))
        if (waits := self._missing(found)) is not None:
            topic, why = waits
            copy.want(topic, f"{self._flow}: {copy.source}: {why}", time.monotonic())
            self._subscription.obey(copy)
            return
        if found.epochs and found.failure is None:
            mark = copy.source_mark or LeaderEpochMark(-1, -1)
            copy.set_mark(mark.advance(found.spans[-1].end, found.epochs))
        if found.skipped:
            self._skip(copy, found)
        copy.carry(found.spans, found.counts)
        self._outlet.append(found.batches)
        copy.measure_age([batch for _, batch in found.batches], time.time())
        if found.failure is not None:
            self._subscription.fail(copy, str(found.failure))
        else:
            self._subscription.obey(copy)

    def _missing(self, found: Carried) -> tuple[str, str] | None:
        for partition in dict.fromkeys(partition for partition, _ in found.batches):
            if (why := self._outlet.missing(partition)) is not None:
                return partition.topic, why
        return None

    def _skip(self, copy: LanePartition, found: Carried) -> None:
        copy.skip(found.skipped)
        if time.monotonic() - self._said >= _SAY_SECONDS:
            self._said = time.monotonic()
            log.warning(
                "%s: %s: %s left out so far (on.error = skip); the last one: %s",
                self._flow,
                copy.source,
                counted(copy.skipped, "record"),
                found.why,
            )
