"""Two clusters as the mirror meets them: one source partition, its remote partition, and internal topics."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import Gap, LeaderEpochMark, TopicPartition
from heliograph.records.batch import read_header
from simulation.clock import VirtualClock
from simulation.frames import read_produce
from simulation.source_log import SourceLog
from simulation.target_log import TargetLog

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


class World:
    """`late` are requests that dead connections have left behind. `status_mark` is what the driver has
    written into the state topic, every now and then. `fallbacks`, `obeyed` and `gaps` are what the mirror has
    said."""

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
        self.late: list[tuple[int, bytes]] = []
        self.stored: int | None = None
        self.state: dict[bytes, bytes | None] = {}
        self.status_mark: LeaderEpochMark | None = None
        #: How likely a request meets a fault, how likely a late one arrives in a step, how large batches are.
        self.fault = self.rng.choice(_FAULT_RATES)
        self.late_rate = self.rng.choice(_LATE_RATES)
        self.batch_records = self.rng.choice(_BATCH_RECORDS)
        self.denied_until = self.state_away_until = 0.0
        self.max_bytes = _DEFAULT_MAX_BYTES
        self.fallbacks: list[int] = []  # upstream offsets from which on records may stand twice
        self.obeyed: list[int] = []  # stored offsets that were obeyed
        self.gaps: list[Gap] = []
        self.lost_by_target: dict[bytes, int] = {}  # and when, in ms since 1970
        self.happened: Counter[str] = Counter()
        self.history: list[tuple[float, str]] = []
        self.producer_ids = 0

    @property
    def target(self) -> TargetLog:
        return self.logs[TARGET]

    def chance(self, share: float) -> bool:
        return self.rng.random() < self.fault * share

    def note(self, what: str) -> None:
        self.history.append((self.clock.now, what))

    def snapshot(self) -> ProducerSnapshotRecord | None:
        """As the state topic has it."""
        for key, value in self.state.items():
            if key.startswith(b'["trail"') and isinstance(
                record := read_state(key, value), ProducerSnapshotRecord
            ):
                return record
        return None

    # ── produce ──────────────────────────────────────────────────────────────────────────────

    @property
    def has_late(self) -> bool:
        """Whether a late request could be carried out now. One that is refused would be gone for good."""
        return bool(self.late) and self.clock.now >= self.denied_until

    def deliver_late(self) -> None:
        (node, body), end = self.late.pop(0), self.target.end
        self.produce(node, body, late=True)
        self.happened["late request appended"] += self.target.end > end

    def produce(
        self, node: int, body: bytes, *, late: bool = False
    ) -> list[tuple[TopicPartition, int, int]]:
        return [
            (partition, *self._append(node, partition, data, late))
            for partition, data in read_produce(body)
        ]

    def _append(
        self, node: int, partition: TopicPartition, data: bytes, late: bool
    ) -> tuple[int, int]:
        chance = self.rng.random()
        if node != self.leader:
            return NOT_LEADER, -1
        if partition == TARGET and self.clock.now < self.denied_until:
            return _TOPIC_AUTHORIZATION_FAILED, -1
        if partition == TARGET and len(data) > self.max_bytes:
            return _MESSAGE_TOO_LARGE, -1
        if chance < self.fault:
            return self.rng.choice(_BEFORE), -1
        error, base = self._append_to_log(partition, data, late)
        if not error and chance < 2 * self.fault:
            return self.rng.choice(_AFTER), -1
        return error, base

    def _append_to_log(self, partition: TopicPartition, data: bytes, late: bool) -> tuple[int, int]:
        log = self.logs[partition]
        before = log.end
        error, base = log.append(data, self.clock.now, late=late)
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
            found = read_source_offset(record.key, record.value)
            if record.value is None:
                self.stored = None
            elif isinstance(found, SourceOffset):
                self.stored = found.resume_at
        self.note(f"stored offset: {self.stored}")
