"""Decides when an offset sync is due, as MM2's `OffsetSyncWriter`, for whole runs of acknowledged records.

A sync is due at once (pending) if it is the partition's first, if the last one is behind by `offset.lag.max`
downstream, if upstream offsets were skipped, or if the target was truncated. Any other acknowledged record
gives a sync that can wait (delayed) for the next commit of offsets (KAFKA-15906).

MM2 decides after every record. Here thousands of records are acknowledged at once, and with only the last
sync readers could translate nothing before it: so up to `BURST` of those due in between are sent, too
(`passed`). Readers keep ever fewer of the older ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.model import TopicPartition

#: Per partition, between two calls of `take`.
BURST = 16


class PartitionSyncs:
    """The state that decides about one partition's next sync (`OffsetSyncWriter.PartitionState`)."""

    __slots__ = ("downstream", "synced", "upstream")

    def __init__(self) -> None:
        self.upstream = -1  # of the last acknowledged record
        self.downstream = -1
        self.synced = -1  # downstream offset of the last sync that was due

    def update(self, upstream: int, downstream: int, lag_max: int) -> bool:
        """One record was acknowledged: whether a sync for it is due, by MM2's rule."""
        due = (
            self.synced == -1
            or downstream - (self.synced + 1)
            >= lag_max  # readers translate to the offset after a sync
            or upstream - self.upstream != 1
            or downstream < self.downstream
        )
        if due:
            self.synced = downstream
        self.upstream, self.downstream = upstream, downstream
        return due

    def update_run(self, upstream: int, downstream: int, count: int, lag_max: int) -> range:
        """`count` records, consecutive on both sides, were acknowledged; the indexes of those that were due.

        Law: state and results are the same as after `update` for each of them.
        """
        last, stride = count - 1, max(lag_max + 1, 1)
        # After the first one, only the lag can make one due.
        first = (
            0
            if self.update(upstream, downstream, lag_max)
            else max(self.synced + 1 + lag_max - downstream, 1)
        )
        due = range(first, count, stride)
        if due:
            self.synced = downstream + due[-1]
        self.upstream, self.downstream = upstream + last, downstream + last
        return due


class OffsetSyncPolicy:
    """The syncs of one task to send: `pending` now, `delayed` with the next commit.

    Each has at most one per partition, the newest, in the order in which partitions first needed one.
    `passed` has those that were pending before, oldest first.
    """

    def __init__(self, lag_max: int) -> None:
        self.pending: dict[TopicPartition, OffsetSync] = {}
        self.delayed: dict[TopicPartition, OffsetSync] = {}
        self.passed: dict[TopicPartition, list[OffsetSync]] = {}
        self._lag_max = lag_max
        self._partitions: dict[TopicPartition, PartitionSyncs] = {}

    def acknowledged(
        self, partition: TopicPartition, upstream: int, downstream: int, count: int = 1
    ) -> None:
        """Law: pending and delayed are the same as after `count` calls with one record each."""
        state = self._partitions.get(partition)
        if state is None:
            state = self._partitions[partition] = PartitionSyncs()
        due = state.update_run(upstream, downstream, count, self._lag_max)
        if due:
            self.delayed.pop(partition, None)
            self._pass(partition, upstream, downstream, due[:-1])
            self.pending[partition] = OffsetSync(
                *partition, upstream + due[-1], downstream + due[-1]
            )
        last = count - 1
        if not due or due[-1] != last:
            self.delayed[partition] = OffsetSync(*partition, upstream + last, downstream + last)

    def _pass(self, partition: TopicPartition, upstream: int, downstream: int, due: range) -> None:
        """A newer sync is due: keep the pending one, and some of those between the two."""
        before = self.pending.get(partition)
        if before is None and not due:
            return
        passed = self.passed.setdefault(partition, [])
        if before is not None:
            passed.append(before)
        every = len(due) // BURST + 1
        passed += [OffsetSync(*partition, upstream + i, downstream + i) for i in due[::every]]
        while len(passed) > BURST:
            del passed[1::2]

    def promote(self) -> None:
        """Offsets are being committed: delayed syncs become pending."""
        self.pending.update(self.delayed)
        self.delayed.clear()

    def take(self, permits: int) -> Iterator[OffsetSync]:
        """The oldest `permits` pending syncs, to be sent now, each after its `passed` ones."""
        for partition in list(self.pending)[:permits]:
            yield from self.passed.pop(partition, ())
            yield self.pending.pop(partition)
