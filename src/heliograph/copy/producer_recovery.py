"""Finds out how much of each partition is already on the target, and resumes its producer id and sequence.

Before anything is sent, and whenever what was sent is refused, the target's log is looked at
(`plan/resume.py` has the picture). Where that does not tell, the copy goes on from the last position that is
known, at least once, and says so. No record goes out under a producer id and epoch before the state topic has
a trail that names them: a successor would not know of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping

from heliograph.client.admin.topics import init_producer_id
from heliograph.client.fetch.log_end import LogEnds, Wanted, log_ends
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.partition import Partition
from heliograph.copy.producer_snapshots import ProducerSnapshots
from heliograph.errors import BrokerError
from heliograph.model import (
    SILENT_SECONDS,
    LastBatch,
    PartitionState,
    ProducerIdentity,
    TopicPartition,
)
from heliograph.plan.resume import Doubt, Landed, TargetLost, landed_since
from heliograph.records.batch import SEQUENCES
from heliograph.wire import error_codes

log = logging.getLogger(__name__)

#: So often in a row numbers may be out of order before they are given up: a batch of a dead task that its
#: broker has appended, but not yet replicated, is not to be seen at first.
_ATTEMPTS = 6
#: How long the first record of a new producer waits in one go for the trail that names it.
_TRAIL_SECONDS = 3.0
#: A task whose epoch is outdated waits longer than a lost driver goes unnoticed: one that still runs then is
#: the only one, and knows less than the broker.
_FENCED_SECONDS = SILENT_SECONDS + 1.0
_LAST_EPOCH = 2**15 - 1


class ProducerRecovery:
    """`looker` is a client that nothing else uses: no question waits behind a request that copies.
    `on_loss(copy, end)` is called when the target has lost what it had acknowledged from `end` on."""

    def __init__(
        self,
        flow: FlowConfig,
        looker: ClusterClient,
        producer: Producer,
        trails: ProducerSnapshots,
        *,
        on_loss: Callable[[Partition, int], None],
    ) -> None:
        self._flow = flow.name
        self._isolation = flow.isolation_level
        self._looker = looker
        self._producer = producer
        self._trails = trails
        self._on_loss = on_loss
        self._unnamed: set[Partition] = set()  # no trail with their identity is written yet

    def find(self, copies: Collection[Partition]) -> list[Partition]:
        """Those that may go on now; the others know why not. Raises ClientError if the target is away."""
        found = self._look(copies, {copy.target: _wanted(copy) for copy in copies})
        self._identify([copy for copy in found if copy.identity is None])
        found = self._named(found)
        for copy in found:
            assert copy.identity is not None
            self._producer.adopt(copy.target, copy.identity, copy.sequence)
        return self._go_on(found)

    def count_off(self, copies: Collection[Partition]) -> list[Partition]:
        """As `find`, for those whose numbers are a transaction's. A trail is then that of a predecessor who
        did not mirror exactly once, and tells what is on the target beyond the stored offset."""
        known = [copy for copy in copies if copy.base is not None or copy.floor >= 0]
        foreign = {copy: copy.foreign for copy in copies}
        found = self._look(copies, {copy.target: _wanted(copy) for copy in known})
        for copy in found:
            copy.identity, copy.downstream = None, -1
            # What stands behind the trail may be of our own transactions.
            copy.foreign = foreign[copy]
        return self._go_on(found)

    def _identify(self, copies: Collection[Partition]) -> None:
        """The next epoch of the identity before: brokers refuse what is still under way of that one, once
        they have a batch of this. Without one before, a new producer id."""
        fresh: ProducerIdentity | None = None
        for copy in copies:
            before, copy.retired = copy.retired, None
            if before is not None and before.epoch < _LAST_EPOCH:
                identity = before._replace(epoch=before.epoch + 1)
            else:
                fresh = identity = fresh or init_producer_id(self._looker)
            copy.identity, copy.sequence, copy.skip = identity, 0, 0
        self._unnamed |= set(copies)

    def _named(self, copies: Collection[Partition]) -> list[Partition]:
        """Those whose identity stands in the state topic, or would never. The others wait for that topic."""
        new = [copy for copy in copies if copy in self._unnamed]
        if new:
            self._trails.write_now(new, _TRAIL_SECONDS)
            if self._trails.settled:
                self._unnamed -= set(new)
        for copy in (copy for copy in new if copy in self._unnamed):
            error = f"{self._flow}: {copy.source}: its producer id is not noted yet: {self._trails.problem}"
            copy.retry_at = time.monotonic() + copy.backoff.next()
            copy.state, copy.error = PartitionState.RETRYING, error
        return [copy for copy in copies if copy not in self._unnamed]

    def _go_on(self, copies: list[Partition]) -> list[Partition]:
        for copy in copies:
            copy.retry_at = None
            if not copy.skip:
                copy.base = None
            if copy.state is PartitionState.RETRYING:
                copy.state, copy.error = PartitionState.RUNNING, None
        return copies

    def _look(
        self, copies: Collection[Partition], wanted: Mapping[TopicPartition, Wanted | None]
    ) -> list[Partition]:
        if not wanted:
            return list(copies)
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

    def lose(self, copy: Partition, error: BrokerError) -> None:
        """Its numbers are not what the broker expects: look again, a bit later each time."""
        said = f"{copy.source}: {error}"
        copy.astray += 1
        copy.retry_at = time.monotonic() + copy.backoff.next()
        copy.state, copy.error = PartitionState.RETRYING, said
        if error.code == error_codes.INVALID_PRODUCER_EPOCH:
            copy.retry_at = time.monotonic() + _FENCED_SECONDS
            self.doubt(copy, said)
            copy.retired = None
        elif copy.astray > _ATTEMPTS:
            self.doubt(copy, said)
        else:
            log.warning("flow %s: %s; looking at the target", self._flow, said)

    def doubt(self, copy: Partition, reason: str, position: int | None = None) -> None:
        """Go on at least once: at `position`, or the last that is known to be on the target as a whole."""
        if position is None:
            position = copy.acked if copy.base is None else copy.base.upstream
        log.warning(
            "flow %s: %s: cannot determine which records from source offset %d on reached the target: %s; "
            "resuming there, duplicates possible",
            self._flow,
            copy.source,
            position,
            reason,
        )
        copy.doubts += 1
        copy.astray = 0
        copy.renumber(position)

    def _stands(self, copy: Partition, seen: LogEnds) -> bool:
        """Whether it is known where the copy goes on."""
        if (problem := seen.missing.get(copy.target)) is not None:
            if copy.error != problem:
                log.warning("flow %s: %s", self._flow, problem)
            copy.state, copy.error = PartitionState.RETRYING, problem
            copy.retry_at = time.monotonic() + copy.backoff.next()
            return False
        copy.downstream = end = seen.ends[copy.target]
        unreadable = seen.unreadable.get(copy.target)
        last = seen.last.get(copy.target)
        landed = self._landed(copy, end, last, unreadable)
        if isinstance(landed, TargetLost):
            self._on_loss(copy, landed.end)
            copy.lost_from, copy.floor = None, end
            return False
        copy.floor = max(copy.floor, end)
        if isinstance(landed, Doubt):
            self.doubt(copy, landed.reason)
        elif copy.base is not None:
            self._resume(copy, landed, last)
        return True

    def _landed(
        self, copy: Partition, end: int, last: LastBatch | None, unreadable: str | None
    ) -> Landed | Doubt | TargetLost:
        if copy.lost_from is not None or end < copy.floor:
            return TargetLost(end if copy.lost_from is None else copy.lost_from)
        if copy.base is None:
            return Landed(0, 0)
        if unreadable is not None:
            return Doubt(unreadable)
        return landed_since(copy.base, end, last, self._isolation)

    def _resume(self, copy: Partition, landed: Landed, last: LastBatch | None) -> None:
        """Go on with the predecessor's numbers behind what has landed."""
        assert copy.base is not None
        if copy.base.isolation is not self._isolation:
            copy.renumber(
                copy.base.upstream
            )  # nothing has landed: what follows is numbered otherwise
            return
        copy.adopt(copy.base.identity, (copy.base.sequence + landed.records) % SEQUENCES)
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


def _wanted(copy: Partition) -> Wanted | None:
    return copy.base and Wanted(copy.base.identity, copy.base.downstream)
