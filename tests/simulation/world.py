"""Two clusters as the mirror meets them: one source partition, its remote partition, and internal topics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.model import Gap, TopicPartition
from heliograph.records.batch import read_header
from heliograph.records.decode import Record
from simulation.clock import VirtualClock
from simulation.frames import read_produce, write_produced
from simulation.source_log import SourceLog
from simulation.target_log import EXPIRATION_MS, TargetLog

SOURCE, TARGET = TopicPartition("t", 0), TopicPartition("a.t", 0)

NOT_LEADER = 6
_MESSAGE_TOO_LARGE, _TOPIC_AUTHORIZATION_FAILED = 10, 29
#: LEADER_NOT_AVAILABLE, REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS: nothing was appended.
_BEFORE = (5, 7, 19)
#: REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND.
_AFTER = (7, 20)
_FAULT_RATES = (0.0, 0.02, 0.1, 0.25)
_LATE_RATES = (0.1, 0.02)
#: In some runs all batches have one size: a broker takes another batch for the same by its numbers alone.
_BATCH_RECORDS = ((1, 12), (1, 3), (2, 2))
_DEFAULT_MAX_BYTES = 1_000_000
_OLD_MS = 2 * EXPIRATION_MS


class Fallback(NamedTuple):
    """From this source offset on, records sent before that moment may be sent again."""

    offset: int
    moment: int


class LoggedGap(NamedTuple):
    gap: Gap
    moment: int


class Lost(NamedTuple):
    """By the target, which had it at this offset."""

    offset: int
    moment: int


class Request(NamedTuple):
    """A Produce request, and when it was sent."""

    node: int
    body: bytes
    sent: int
    version: int = 8


class World:
    """`late` are requests that dead connections have left behind. `fallbacks` and `gaps` are what the mirror
    has logged."""

    def __init__(self, seed: int, offsets_topic: str, quarantine_topic: str | None) -> None:
        self.rng = Random(seed)
        self.clock = VirtualClock()
        self.offsets = TopicPartition(offsets_topic, 0)
        self.quarantine = (
            TopicPartition(quarantine_topic, 0) if quarantine_topic is not None else None
        )
        self.source = SourceLog()
        self.logs: defaultdict[TopicPartition, TargetLog] = defaultdict(TargetLog)
        self.leader = 1
        self.leader_epoch = 0  # of the target's partitions
        self.late: list[Request] = []
        self.stored: int | None = None
        self.offset_records: dict[
            bytes, Record
        ] = {}  # of the offsets topic, the newest of each key
        self.state: dict[bytes, bytes | None] = {}
        #: How likely a request meets a fault, how likely a late one arrives in a step, how large batches are.
        self.fault = self.rng.choice(_FAULT_RATES)
        self.late_rate = self.rng.choice(_LATE_RATES)
        self.batch_records = self.rng.choice(_BATCH_RECORDS)
        self.old_share = 0.0  # of the source's batches: older than brokers remember producers
        self.outage = 1.0  # how long outages last, of the usual length
        self.denied_until = self.state_away_until = 0.0
        self.max_bytes = _DEFAULT_MAX_BYTES
        self.owed_from = 0  # the source offset from which on all records have to be mirrored
        self.fallbacks: list[Fallback] = []
        self.gaps: list[LoggedGap] = []
        self.lost_by_target: dict[bytes, Lost] = {}  # the newest loss of a value
        self.foreign_at: dict[
            int, int
        ] = {}  # when another writer last wrote at an offset of the target
        self.happened: Counter[str] = Counter()
        self.history: list[tuple[float, str]] = []
        self.producer_ids = 0
        self._moments = 0

    def moment(self) -> int:
        """The next one: which of two things came first. The clock may stand still between them."""
        self._moments += 1
        return self._moments

    def begin_at(self, start: int) -> None:
        """Nothing is known of any copy before: what the source has deleted by now was never owed."""
        self.owed_from = max(self.owed_from, start)

    @property
    def newest_offsets(self) -> dict[bytes, Record] | None:
        """Of the offsets topic; None while they cannot be read."""
        return dict(self.offset_records)

    @property
    def target(self) -> TargetLog:
        return self.logs[TARGET]

    def write_to_source(self, sizes: list[int], producer_id: int = -1) -> None:
        old = bool(self.old_share) and self.rng.random() < self.old_share
        written = int(self.clock.time() * 1000) - (_OLD_MS if old else 0)
        self.source.append(sizes, producer_id, written)

    def chance(self, share: float) -> bool:
        return self.rng.random() < self.fault * share

    def note(self, what: str) -> None:
        self.history.append((self.clock.now, what))

    # ── produce ──────────────────────────────────────────────────────────────────────────────

    @property
    def has_late(self) -> bool:
        """Whether a late request could be carried out now. One that is refused would be gone for good."""
        return bool(self.late) and self.clock.now >= self.denied_until

    def deliver_late(self) -> None:
        request, end = self.late.pop(0), self.target.end
        self.carry_out_produce(request, late=True)
        self.happened["late request appended"] += self.target.end > end

    def elect(self) -> None:
        """Another broker leads the target's partitions. Also after a loss: the replica that lacks records is
        another one, or its broker has restarted; requests under way to the old leader are refused."""
        self.leader = 3 - self.leader
        self.leader_epoch += 1

    def restart_leader(self) -> None:
        """It leads again, under a new epoch. What waited in its sockets is gone."""
        self.late = [each for each in self.late if each.node != self.leader]
        self.leader_epoch += 1
        self.restart_logs()
        self.note("the target's leader has restarted")

    def restart_logs(self) -> None:
        for log in self.logs.values():
            log.restart(int(self.clock.time() * 1000))

    def step(self) -> None:
        """What brokers do by themselves."""

    def rest(self) -> None:
        """They have done all of it."""

    def carry_out_produce(self, request: Request, *, late: bool = False) -> bytes:
        """The response."""
        return write_produced(
            (partition, *self._append(request, partition, data, late))
            for partition, data in read_produce(request.body)
        )

    def _append(
        self, request: Request, partition: TopicPartition, data: bytes, late: bool
    ) -> tuple[int, int]:
        return self.with_faults(
            request,
            partition,
            data,
            lambda: self._append_to_log(partition, data, request.sent, late),
        )

    def with_faults(
        self,
        request: Request,
        partition: TopicPartition,
        data: bytes,
        append: Callable[[], tuple[int, int]],
    ) -> tuple[int, int]:
        """Error code and base offset: of `append`, or of what prevents it."""
        chance = self.rng.random()
        if request.node != self.leader:
            return NOT_LEADER, -1
        if partition == TARGET and self.clock.now < self.denied_until:
            return _TOPIC_AUTHORIZATION_FAILED, -1
        if partition == TARGET and len(data) > self.max_bytes:
            return _MESSAGE_TOO_LARGE, -1
        if chance < self.fault:
            return self.rng.choice(_BEFORE), -1
        error, base = append()
        if not error and chance < 2 * self.fault:
            return self.rng.choice(_AFTER), -1
        return error, base

    def _append_to_log(
        self, partition: TopicPartition, data: bytes, sent: int, late: bool
    ) -> tuple[int, int]:
        log = self.logs[partition]
        before = log.end
        error, base = log.append(data, self.clock.now, sent=sent, late=late)
        if partition == self.offsets and log.end > before:
            self._store()
        if partition == TARGET:
            header = read_header(memoryview(data))
            new = "appended" if log.end > before else "recognised"
            self.note(
                f"target: {header.record_count} records of producer {header.producer_id}, epoch "
                f"{header.producer_epoch}, number {header.base_sequence}: "
                + (f"error {error}" if error else f"{new} at {base}")
            )
        return error, base

    def _store(self) -> None:
        for record in self.logs[self.offsets].entries[-1].records():
            if record.key is not None:
                self.offset_records[record.key] = record
            found = read_source_offset(record.key, record.value)
            if record.value is None:
                self.stored = None
            elif isinstance(found, SourceOffset):
                self.stored = found.resume_at
        self.note(f"stored offset: {self.stored}")
