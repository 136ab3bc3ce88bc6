"""Finds out how much of each partition is already on the target, and resumes its producer id and sequence.

The target's log is read before anything is sent, and after a batch was refused (`plan/resume.py` has the
picture). If the log does not show which records arrived, the copy resumes at the last known position, at
least once, and logs a warning. No record is sent under a new producer id and epoch before the state topic has
a snapshot with them: a successor could not find the records otherwise.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping

from heliograph.client.admin.topics import init_producer_id
from heliograph.client.fetch.log_end import LogEnds, Wanted, log_ends
from heliograph.client.fetch.own_batches import OwnEnd, end_before
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.partition import Partition
from heliograph.counted import counted
from heliograph.errors import BrokerError
from heliograph.model import SILENT_SECONDS, ProducerIdentity, TopicPartition
from heliograph.plan.resume import TargetLost, Undetermined
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: Consecutive sequence errors before the numbers are given up. The first may be due to a batch of a dead task
#: that is appended but not yet replicated, and so not visible.
_ATTEMPTS = 6
#: How long one attempt waits until the snapshot with a new producer id is written.
_SNAPSHOT_SECONDS = 3.0
#: How long a task with an outdated producer epoch waits: longer than leases last without the driver. A task
#: that still runs then is the only one.
_FENCED_SECONDS = SILENT_SECONDS + 1.0
_LAST_EPOCH = 2**15 - 1


class ProducerRecovery:
    """`probe_client` is a client that nothing else uses, so that its requests do not wait behind those of the
    copy. `on_loss(copy, left)` is called when the target has lost acknowledged records: all from the end of
    `left` on."""

    def __init__(
        self,
        flow: FlowConfig,
        probe_client: ClusterClient,
        producer: Producer,
        snapshots: ProducerSnapshots,
        *,
        on_loss: Callable[[Partition, OwnEnd], None],
    ) -> None:
        self._flow = flow.name
        self._probe_client = probe_client
        self._producer = producer
        self._snapshots = snapshots
        self._on_loss = on_loss
        self._unnamed: set[Partition] = set()  # whose producer id is in no snapshot yet

    @property
    def names_pending(self) -> bool:
        """Whether a partition waits until its producer id is in the state topic."""
        return bool(self._unnamed)

    def resume_producers(self, copies: Collection[Partition]) -> list[Partition]:
        """Returns those that may be copied now; the others have their cause in `error`. Raises ClientError if
        the target cannot be reached."""
        found = self._look(copies, {copy.target: _wanted(copy) for copy in copies})
        self._identify([copy for copy in found if copy.numbers.identity is None])
        found = self._named(found)
        for copy in found:
            assert copy.numbers.identity is not None
            self._producer.adopt(copy.target, copy.numbers.identity, copy.numbers.sequence)
        return found

    def skip_landed(self, copies: Collection[Partition]) -> list[Partition]:
        """As `resume_producers`, for exactly once. A snapshot is then that of a predecessor that mirrored at
        least once, and shows which records after the stored offset are on the target."""
        known = [copy for copy in copies if copy.numbers.base is not None or copy.remote.floor >= 0]
        return self._look(copies, {copy.target: _wanted(copy) for copy in known})

    def _identify(self, copies: Collection[Partition]) -> None:
        """The next epoch of the previous identity: once brokers have a batch of it, they refuse late batches
        of the previous one. Without a previous identity, a new producer id."""
        fresh: ProducerIdentity | None = None
        for copy in copies:
            before = copy.numbers.retired
            if before is not None and before.epoch < _LAST_EPOCH:
                identity = before._replace(epoch=before.epoch + 1)
            else:
                fresh = identity = fresh or init_producer_id(self._probe_client)
            copy.introduce(identity)
        self._unnamed |= set(copies)

    def _named(self, copies: Collection[Partition]) -> list[Partition]:
        """Returns those whose producer id is in the state topic, or cannot be written to it. The others wait
        for that topic."""
        new = [copy for copy in copies if copy in self._unnamed]
        if new:
            self._snapshots.write_now(new, _SNAPSHOT_SECONDS)
            if self._snapshots.settled:
                self._unnamed -= set(new)
        for copy in (copy for copy in new if copy in self._unnamed):
            copy.delay_recovery(
                f"{self._flow}: {copy.source}: its producer id is not in the state topic yet: "
                f"{self._snapshots.problem}",
                time.monotonic(),
            )
        return [copy for copy in copies if copy not in self._unnamed]

    def _look(
        self, copies: Collection[Partition], wanted: Mapping[TopicPartition, Wanted | None]
    ) -> list[Partition]:
        if not wanted:
            return list(copies)
        began = time.monotonic()
        seen = log_ends(self._probe_client, wanted)
        found = [copy for copy in copies if copy.target not in wanted or self._resumes(copy, seen)]
        if landed := sum(copy.numbers.skip for copy in found):
            log.info(
                "flow %s: recovered %s in %d ms; already on the target: %s",
                self._flow,
                counted(len(wanted), "partition"),
                (time.monotonic() - began) * 1000,
                counted(landed, "record"),
            )
        return found

    def _resumes(self, copy: Partition, seen: LogEnds) -> bool:
        """Whether the position to resume at is known."""
        if (problem := seen.missing.get(copy.target)) is not None:
            if copy.error != problem:
                log.warning("flow %s: %s", self._flow, problem)
            copy.delay_recovery(problem, time.monotonic())
            return False
        end, last = seen.ends[copy.target], seen.last.get(copy.target)
        landed = copy.compare_target(end, last, seen.unreadable.get(copy.target))
        if isinstance(landed, TargetLost):
            self._on_loss(copy, self._lost_from(copy, landed))
            copy.settle_loss(end)
            return False
        if isinstance(landed, Undetermined):
            self.fall_back_to_at_least_once(copy, landed.reason)
            return True
        copy.resume_behind(landed, last)
        if copy.numbers.skip:
            log.debug(
                "flow %s: %s: already on the target from source offset %d on: %s",
                self._flow,
                copy.source,
                copy.acked,
                counted(copy.numbers.skip, "record"),
            )
        return True

    def _lost_from(self, copy: Partition, lost: TargetLost) -> OwnEnd:
        """Other writers, or we ourselves, may have written at the lost offsets since: they begin behind the
        last of our records that is left."""
        base, numbers = copy.numbers.base, copy.numbers
        identity = base.identity if base is not None else numbers.identity or numbers.retired
        if identity is None or copy.transactional:
            return OwnEnd(lost.end)
        sequence = base.sequence if base is not None else None
        return end_before(self._probe_client, copy.target, identity, sequence, lost.end)

    def refused(self, copy: Partition, error: BrokerError) -> None:
        """The broker expects another sequence number or epoch: recover again, after a growing pause."""
        cause = f"{copy.source}: {error}"
        fenced = error.code == ErrorCode.INVALID_PRODUCER_EPOCH
        copy.refuse_sequence(
            cause, time.monotonic(), fenced_seconds=_FENCED_SECONDS if fenced else None
        )
        if fenced or copy.sequence_errors > _ATTEMPTS:
            self.fall_back_to_at_least_once(copy, cause, fenced=fenced)
        else:
            log.warning("flow %s: %s; reading the target's log", self._flow, cause)

    def fall_back_to_at_least_once(
        self, copy: Partition, reason: str, position: int | None = None, *, fenced: bool = False
    ) -> None:
        log.warning(
            "flow %s: %s: cannot determine which records from source offset %d on reached the target: %s; "
            "resuming there, duplicates possible",
            self._flow,
            copy.source,
            copy.fall_back(position, fenced=fenced),
            reason,
        )


def _wanted(copy: Partition) -> Wanted | None:
    """Closely where its numbers do not go on, were refused, or may be forgotten: a log that ends where it
    should may have lost records, and got others since."""
    base = copy.numbers.base
    if base is None:
        return None
    doubtful = copy.sequence_errors > 0 or copy.in_doubt
    closely = doubtful or base.isolation is not copy.isolation
    return Wanted(base.identity, base.downstream, closely)
