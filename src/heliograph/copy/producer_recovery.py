"""Firm ground for each partition of a link: what of it is on the target already, and whose numbers go on.

Before anything is sent, and whenever a broker finds our sequence numbers out of order, the target's log is
looked at (`plan/resume.py` has the picture). Where that does not tell, the copy goes on from the last
position that is known, at least once, and says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping

from heliograph.client.admin.topics import init_producer_id
from heliograph.client.fetch.log_end import LogEnds, Wanted, log_ends
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.copy.partition import PartitionCopy
from heliograph.copy.producer_snapshots import Trails
from heliograph.model import PartitionState, ProducerIdentity, TopicPartition
from heliograph.plan.resume import Doubt, landed_since
from heliograph.records.batch import SEQUENCES

log = logging.getLogger(__name__)

#: So often in a row numbers may be out of order before they are given up: a batch of a dead task that its
#: broker has appended, but not yet replicated, is not to be seen at first.
_ATTEMPTS = 6
#: How long the first record of a new producer waits for the trail that names it.
_TRAIL_SECONDS = 3.0


class Footing:
    """`looker` is a client that nothing else uses: no question waits behind a request that copies."""

    def __init__(
        self, flow: str, looker: ClusterClient, producer: Producer, trails: Trails
    ) -> None:
        self._flow = flow
        self._looker = looker
        self._producer = producer
        self._trails = trails

    def find(self, copies: Collection[PartitionCopy]) -> list[PartitionCopy]:
        """Those that may go on now; the others know why not. Raises ClientError if the target is away."""
        found = self._look(copies, {copy.target: _wanted(copy) for copy in copies})
        new = [copy for copy in found if copy.identity is None]
        if new:
            identity = init_producer_id(self._looker)
            for copy in new:
                _begin(copy, identity)
            self._trails.write_now(new, _TRAIL_SECONDS)
        for copy in found:
            assert copy.identity is not None
            self._producer.adopt(copy.target, copy.identity, copy.sequence)
        return self._go_on(found)

    def count_off(self, copies: Collection[PartitionCopy]) -> list[PartitionCopy]:
        """As `find`, for those whose numbers are a transaction's. A trail is then that of a predecessor who
        did not mirror exactly once, and tells what is on the target beyond the stored offset."""
        trailed = {copy.target: _wanted(copy) for copy in copies if copy.base is not None}
        foreign = {copy: copy.foreign for copy in copies}
        found = self._look(copies, trailed) if trailed else list(copies)
        for copy in found:
            copy.identity, copy.downstream = None, -1
            # What stands behind the trail may be of our own transactions.
            copy.foreign = foreign[copy]
        return self._go_on(found)

    def _go_on(self, copies: list[PartitionCopy]) -> list[PartitionCopy]:
        for copy in copies:
            copy.retry_at = None
            if not copy.skip:
                copy.base = None
            if copy.state is not PartitionState.RUNNING:
                copy.state, copy.error = PartitionState.RUNNING, None
        return copies

    def _look(
        self, copies: Collection[PartitionCopy], wanted: Mapping[TopicPartition, Wanted | None]
    ) -> list[PartitionCopy]:
        began = time.monotonic()
        seen = log_ends(self._looker, wanted)
        found = [copy for copy in copies if copy.target not in wanted or self._stands(copy, seen)]
        if landed := sum(copy.skip for copy in found):
            log.info(
                "flow %s: %d partitions looked at in %d ms: %d records are on the target already",
                self._flow,
                len(wanted),
                (time.monotonic() - began) * 1000,
                landed,
            )
        return found

    def lose(self, copy: PartitionCopy, error: str) -> None:
        """Its numbers are out of order: look again, a bit later each time."""
        copy.base, copy.identity, copy.position = copy.trail, None, copy.acked
        copy.astray += 1
        copy.retry_at = time.monotonic() + copy.backoff.next()
        copy.state, copy.error = PartitionState.RETRYING, error
        if copy.astray > _ATTEMPTS:
            self.doubt(copy, error)
        else:
            log.warning("flow %s: %s; looking at the target", self._flow, error)

    def doubt(self, copy: PartitionCopy, reason: str, position: int | None = None) -> None:
        """Go on at least once: at `position`, or the last that is known to be on the target as a whole."""
        if position is None:
            position = copy.acked if copy.base is None else copy.base.upstream
        log.warning(
            "flow %s: %s: nobody can tell what of it is on the target from source offset %d on: %s; going on "
            "from there, at least once",
            self._flow,
            copy.source,
            position,
            reason,
        )
        copy.doubts += 1
        copy.astray = copy.skip = 0
        copy.position = copy.acked = position
        copy.base = copy.identity = None

    def _stands(self, copy: PartitionCopy, seen: LogEnds) -> bool:
        if (problem := seen.missing.get(copy.target)) is not None:
            if copy.error != problem:
                log.warning("flow %s: %s", self._flow, problem)
            copy.state, copy.error = PartitionState.RETRYING, problem
            copy.retry_at = time.monotonic() + copy.backoff.next()
            return False
        copy.downstream = end = seen.ends[copy.target]
        if copy.base is None:
            return True
        if (problem := seen.unreadable.get(copy.target)) is not None:
            self.doubt(copy, problem)
            return True
        last = seen.last.get(copy.target)
        landed = landed_since(copy.base, end, last)
        if isinstance(landed, Doubt):
            self.doubt(copy, landed.reason)
            return True
        copy.identity = copy.base.identity
        copy.sequence = (copy.base.sequence + landed.records) % SEQUENCES
        copy.skip, copy.holes = landed.records, False
        copy.landed_last = last.data if last is not None else b""
        copy.foreign += landed.foreign
        # With records of others among them, nobody knows where each of ours stands.
        copy.skipped_to = -1 if landed.foreign else copy.base.downstream
        if landed.records:
            log.debug(
                "flow %s: %s: %d records from source offset %d on are on the target already",
                self._flow,
                copy.source,
                landed.records,
                copy.base.upstream,
            )
        return True


def _wanted(copy: PartitionCopy) -> Wanted | None:
    return copy.base and Wanted(copy.base.identity, copy.base.downstream)


def _begin(copy: PartitionCopy, identity: ProducerIdentity) -> None:
    copy.identity, copy.sequence, copy.skip = identity, 0, 0
