"""The target of a mirror that delivers exactly once: the model of a cluster (`model/`), checked against a
real one, under the same faults. Readers under read_committed decide what is there."""

from __future__ import annotations

from typing import Any

from heliograph.errors import ConnectionLost
from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from simulation.model import requests
from simulation.model.cluster import Cluster
from simulation.model.frames import read_produce, write_produced
from simulation.model.partition_log import Appended, PartitionLog
from simulation.model.stored_batch import StoredBatch
from simulation.source_log import OFFSET_OUT_OF_RANGE, Fetched
from simulation.target_log import FOREIGN, Entry
from simulation.world import TARGET, Request, World

_NODE = 1  # of the model: who leads is the world's business
_MARKERS_AT_ONCE = 3


class TransactionalLog:
    """A partition of the cluster, as `TargetLog` shows one. `entries` are what is committed."""

    took_any_number = False

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.origins: dict[
            int, tuple[int, bool]
        ] = {}  # by base offset: when it was sent, and if late
        #: By base offset: committed batches that retention has deleted. Later markers change nothing of them.
        self._deleted: dict[int, Entry] = {}
        self._aborted: set[int] = set()  # the same, of aborted batches
        #: When batches were sent whose transactions have lost their markers: a later marker decides again.
        self.reopened: set[int] = set()
        #: When batches were sent that retention has deleted before they were committed: no reader sees them.
        self.unseen: set[int] = set()

    @property
    def start(self) -> int:
        return self.log.start

    @property
    def end(self) -> int:
        return self.log.end

    @property
    def last_stable(self) -> int:
        return self.log.last_stable

    @property
    def entries(self) -> list[Entry]:
        return [
            *self._deleted.values(),
            *(
                self._entry(batch)
                for batch in self.log.batches
                if not batch.control
                and batch.base not in self._deleted
                and batch.base not in self._aborted
                and (not batch.transactional or _is_committed(batch, self.log))
            ),
        ]

    def _entry(self, batch: StoredBatch) -> Entry:
        header = batch.header
        sent, late = self.origins.get(batch.base, (0, False))
        identity = ProducerIdentity(header.producer_id, header.producer_epoch)
        return Entry(
            batch.base,
            batch.data,
            header.record_count,
            identity,
            header.base_sequence,
            sent,
            late,
        )

    def append_foreign(self, count: int) -> None:
        self.log.append(bytes(encode([Record(timestamp=5, key=None, value=FOREIGN)] * count)))

    def fetch(self, offset: int, max_bytes: int) -> Fetched:
        if not self.start <= offset <= self.end:
            return Fetched(OFFSET_OUT_OF_RANGE)
        return Fetched(0, self.log.read(offset, max_bytes, committed=False).records)

    def delete_before(self, offset: int) -> None:
        self.log.delete_records(max(min(offset, self.end), 0))
        self._settle_deleted()

    def _settle_deleted(self) -> None:
        deleted = [b for b in self.log.batches if b.last < self.start and not b.control]
        bases = {batch.base for batch in deleted}
        self._deleted |= {entry.base: entry for entry in self.entries if entry.base in bases}
        for batch in deleted:
            if batch.transactional and batch.base not in self._deleted:
                if _marker(batch, self.log) is not None:
                    self._aborted.add(batch.base)
                elif batch.base in self.origins:
                    self.unseen.add(self.origins[batch.base][0])

    def expire_producers(self, idle_since: float) -> None:
        self.log.producers.expire(int(idle_since * 1000) + self.log.producers.expiration_ms)

    def lose_last(self) -> list[Entry]:
        """The newest batch, or marker, is gone (unclean election): what was committed and is not any more,
        and a batch that was not committed yet: its coordinator may commit what it does not know to lack."""
        if not self.log.batches or self.log.batches[-1].base < self.start:
            return []
        self._settle_deleted()
        committed, ended = self.entries, self._ended()
        (lost,) = self.log.elect_unclean(self.log.leader_epoch + 1, self.log.batches[-1].base)
        left = {entry.base for entry in self.entries}
        self.reopened |= {self.origins[base][0] for base in ended - self._ended() - {lost.base}}
        self.origins.pop(lost.base, None)
        gone = [entry for entry in committed if entry.base not in left]
        if not lost.control and all(entry.base != lost.base for entry in gone):
            gone.append(self._entry(lost))
        return gone

    def _ended(self) -> set[int]:
        """Base offsets of our batches that have a marker behind them."""
        return {
            batch.base
            for batch in self.log.batches
            if batch.base in self.origins and _marker(batch, self.log) is not None
        }


def _marker(batch: StoredBatch, log: PartitionLog) -> StoredBatch | None:
    """The one that decides over the batch. The broker itself may not tell: its last stable offset is never
    before the log start, and it has forgotten transactions of an empty log when it starts again."""
    producer = batch.header.producer_id
    return next(
        (
            b
            for b in log.batches
            if b.control and b.base > batch.base and b.header.producer_id == producer
        ),
        None,
    )


def _is_committed(batch: StoredBatch, log: PartitionLog) -> bool:
    marker = _marker(batch, log)
    return marker is not None and not marker.aborts


class TransactionalWorld(World):
    """Markers are written a few at a time, and late requests of dead connections reach the cluster as they
    would reach a real one."""

    def __init__(self, seed: int, offsets_topic: str, quarantine_topic: str | None) -> None:
        super().__init__(seed, offsets_topic, quarantine_topic)
        self.version = self.rng.choice((1, 2))
        self.cluster = Cluster(
            lambda: int(self.clock.time() * 1000),
            markers_at_once=False,
            transaction_version=self.version,
        )
        for partition in (TARGET, self.offsets, self.quarantine):
            if partition is not None:
                self.cluster.create_topic(partition.topic)
                log = self.cluster.log(partition)
                assert log is not None
                self.logs[partition] = TransactionalLog(log)  # type: ignore[assignment]

    @property
    def newest_offsets(self) -> dict[bytes, Record] | None:
        """Of the offsets topic, for readers under read_committed; None while a transaction is open."""
        log = self.logs[self.offsets]
        assert isinstance(log, TransactionalLog)
        if log.log.last_stable < log.end:
            return None
        found = [record for entry in log.entries for record in entry.records()]
        return {record.key: record for record in found if record.key is not None}

    def step(self) -> None:
        """What brokers do by themselves."""
        self.cluster.write_markers(self.rng.randint(0, _MARKERS_AT_ONCE))
        for late in self.cluster.abort_timed_out():
            self.note(f"the coordinator aborts the transaction of {late}: it took too long")

    def restart_logs(self) -> None:
        clean = self.rng.random() < 0.5
        for log in self.logs.values():
            assert isinstance(log, TransactionalLog)
            log.log.restart(log.log.leader_epoch + 1, clean=clean)

    def rest(self) -> None:
        while self.cluster.write_markers():
            pass

    def carry_out_produce(self, request: Request, *, late: bool = False) -> bytes:
        transactional_id, batches = read_produce(request.body, request.version)
        answers = {
            partition: self._try(request, transactional_id, partition, data, late)
            for partition, data in batches.items()
        }
        return write_produced(answers, request.version)

    def _try(
        self,
        request: Request,
        transactional_id: str | None,
        partition: TopicPartition,
        data: bytes,
        late: bool,
    ) -> Appended:
        def append() -> tuple[int, int]:
            log = self.logs[partition]
            assert isinstance(log, TransactionalLog)
            before = log.end
            (found,) = self.cluster.produce(
                _NODE,
                {partition: data},
                transactional_id=transactional_id,
                version=request.version,
            ).values()
            if log.end > before:
                log.origins[before] = (request.sent, late)
            if partition == TARGET:
                self.note(f"target: a batch of {transactional_id}: {found}")
            return int(found.error), found.base

        error, base = self.with_faults(request, partition, data, append)
        as_any: Any = error  # the model lacks some codes that only faults answer with
        return Appended(as_any, base)

    def answer(self, request: Any) -> Any:
        """Of the coordinator. A request may be carried out, and its answer lost."""
        self.step()
        if request.API_VERSION is None:
            request.API_VERSION = requests.version_of(request)
        found = requests.answer(self.cluster, _NODE, request)
        if self.chance(1 / 6):
            raise ConnectionLost("simulated: the connection broke before the answer")
        return found


#: Requests that the cluster answers by itself.
COORDINATED = frozenset(
    {
        "FindCoordinatorRequest",
        "InitProducerIdRequest",
        "AddPartitionsToTxnRequest",
        "EndTxnRequest",
        "ListTransactionsRequest",
    }
)
