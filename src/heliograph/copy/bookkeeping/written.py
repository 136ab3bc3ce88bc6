"""What a transaction of the raw copy has written: batches by target partition, in the order of the source.

`Commits` asks it what to store with them; `lane/written.py` is that of records that are transformed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.copy.partition import Partition
from heliograph.copy.quarantine import Quarantine
from heliograph.mm2.connect.offset_records import Logs
from heliograph.model import TopicPartition

_NOTHING = memoryview(b"")

#: Called for each batch of a committed transaction, in order.
Committed = Callable[[TopicPartition, ProducerBatch, int], None]


class Written(Protocol):
    """Of the open transaction. `newest`: when its last batch was acknowledged."""

    newest: float

    def landed(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> str | None:
        """A batch was acknowledged. Returns why the transaction must be aborted, if it must."""

    def copies(self) -> Sequence[Partition]: ...

    def owners(self, partition: TopicPartition) -> Sequence[Partition]:
        """Those that a refusal of this target partition concerns; none if it is of the offsets topic."""

    def hold(self) -> None:
        """Send nothing new: the transaction is about to end."""

    def settled(self) -> bool:
        """Whether all that was sent is acknowledged."""

    def stored(self) -> bool:
        """Whether the offsets are acknowledged."""

    def doubt(self) -> str | None:
        """Why it must be aborted, if it must. Raises ClientError if the target cannot be read now."""

    def positions(self) -> dict[Partition, int]:
        """The offsets to store: the end of each partition's records in this transaction or earlier ones."""

    def logs(self, storing: Mapping[Partition, int]) -> dict[Partition, Logs]: ...

    def commit(self, committed: Committed, marked: set[TopicPartition]) -> None:
        """It was committed; a marker was written to the `marked` partitions."""

    def abort(self) -> None: ...


class RecordsWritten:
    def __init__(
        self,
        copies: Mapping[TopicPartition, Partition],
        producer: Producer,
        quarantine: Quarantine,
        vouch: Callable[[Mapping[Partition, int]], str | None],
    ) -> None:
        self.newest = time.monotonic()
        self._copies = copies  # by target partition
        self._producer = producer
        self._quarantine = quarantine
        self._vouch = vouch
        self._landed: list[tuple[TopicPartition, ProducerBatch, int]] = []

    def landed(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> str | None:
        """If the batch shows that the target has lost records, the transaction must be aborted."""
        copy = self._copies.get(partition)
        if copy is not None or partition.topic in self._quarantine.topics:
            batch.data = _NOTHING  # frees the memory of its fetch response
            self._landed.append((partition, batch, base_offset))
            self.newest = time.monotonic()
        if copy is not None and copy.shows_loss(base_offset):
            return f"{partition}: the target has lost acknowledged records"
        return None

    def copies(self) -> Sequence[Partition]:
        return list(self._copies.values())

    def owners(self, partition: TopicPartition) -> Sequence[Partition]:
        if partition in self._copies:
            return [self._copies[partition]]
        return self._quarantine.waiting() if partition.topic in self._quarantine.topics else []

    def hold(self) -> None:
        self._producer.hold(self._copies)

    def settled(self) -> bool:
        return not self._producer.unsettled(self._copies)

    def stored(self) -> bool:
        return self._producer.idle_but_for(self._copies)

    def doubt(self) -> str | None:
        return self._vouch(self._first_offsets())

    def _first_offsets(self) -> dict[Partition, int]:
        """Of each partition with records in this transaction, the first one's offset on the target."""
        firsts: dict[Partition, int] = {}
        for partition, _, base_offset in self._landed:
            if (copy := self._copies.get(partition)) is not None:
                firsts.setdefault(copy, base_offset)
        return firsts

    def positions(self) -> dict[Partition, int]:
        """With records also the offset that is stored already: what the target had lost is at other offsets
        now."""
        ends: dict[Partition, int] = {}
        counts: dict[Partition, int] = {}
        for partition, batch, _ in self._landed:
            copy = self._copies.get(partition)
            if copy is None:
                continue  # a quarantined record advances its partition when it is committed
            ends[copy] = batch.next_offset
            counts[copy] = counts.get(copy, 0) + 1
        for copy, count in counts.items():
            if copy.outstanding == count:  # dropped batches after the last one are done, too
                ends[copy] = max(ends[copy], copy.position)
        wanted = {copy: ends.get(copy, copy.acked) for copy in self._copies.values()}
        return {
            copy: end
            for copy, end in wanted.items()
            if (end != copy.offset.position or copy in counts) and copy.numbers.base is None
        }

    def logs(self, storing: Mapping[Partition, int]) -> dict[Partition, Logs]:
        """For each partition, the least length of the remote log once this transaction is committed, and the
        leader epoch mark of the source."""
        found = {copy: max(copy.remote.floor, copy.remote.downstream) for copy in storing}
        last = {copy: copy.remote.last for copy in storing}
        for partition, batch, base_offset in self._landed:
            copy = self._copies.get(partition)
            if copy in found and base_offset >= 0:
                end = base_offset + batch.record_count
                found[copy], last[copy] = max(found[copy], end), end - 1
        return {
            copy: Logs(length, copy.source_mark, last[copy], _epoch(copy))
            for copy, length in found.items()
        }

    def commit(self, committed: Committed, marked: set[TopicPartition]) -> None:
        landed, self._landed = self._landed, []
        for partition, batch, base_offset in landed:
            committed(partition, batch, base_offset)
        for partition in marked & self._copies.keys():
            self._copies[partition].pass_marker()

    def abort(self) -> None:
        self._landed = []


def _epoch(copy: Partition) -> int:
    return -1 if copy.remote.leader_epoch is None else copy.remote.leader_epoch
