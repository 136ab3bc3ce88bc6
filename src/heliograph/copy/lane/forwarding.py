"""Prepares the fetched records of a lane's partitions and sends them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.preparing import Carried, Rules, carry
from heliograph.copy.partition import Partition
from heliograph.copy.subscription import SubscriptionState
from heliograph.counted import counted
from heliograph.model import LeaderEpochMark
from heliograph.wire.fetch import FetchedPartition

log = logging.getLogger(__name__)

#: Records that are left out are named in the log this often.
_SAY_SECONDS = 60.0


class LaneForward:
    """Part of one copy loop. `rules(copy)`: heartbeats, for example, have another chain."""

    def __init__(
        self,
        flow: str,
        *,
        rules: Callable[[LanePartition], Rules],
        outlet: Outlet,
        subscription: SubscriptionState,
    ) -> None:
        self._flow = flow
        self._rules = rules
        self._outlet = outlet
        self._subscription = subscription
        self._said = -_SAY_SECONDS

    def __call__(self, copy: Partition, answer: FetchedPartition) -> None:
        assert isinstance(copy, LanePartition)
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
