"""When an offset sync is due: MM2's `OffsetSyncWriter`, for whole runs of acknowledged records.

A sync is due at once (pending) when it is the partition's first, when the last one has fallen behind by
`offset.lag.max` downstream, when upstream offsets were skipped, or when the target was truncated. Any other
acknowledged record is a sync that can wait (delayed) for the next commit of offsets (KAFKA-15906).

MM2 sends after every record. Whoever gets thousands of records acknowledged at once must not leave their
syncs out but for the last one, or readers could translate nothing before it: up to `BURST` of those that
were due in between go along (`passed`). Readers keep ever fewer of the older ones anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.model import TopicPartition

#: Of one partition, between two takes.
BURST = 16


class PartitionSyncs:
    """What decides about one partition's next sync (`OffsetSyncWriter.PartitionState`)."""

    __slots__ = ("downstream", "synced", "upstream")

    def __init__(self) -> None:
        self.upstream = -1  # of the last acknowledged record
        self.downstream = -1
        self.synced = -1  # downstream offset of the last sync that was due

    def update(self, upstream: int, downstream: int, lag_max: int) -> bool:
        """One record was acknowledged: whether a sync of it is due. MM2's own rule."""
        due = (
            self.synced == -1
            or downstream - (self.synced + 1)
            >= lag_max  # readers translate to the one behind a sync
            or upstream - self.upstream != 1
            or downstream < self.downstream
        )
        if due:
            self.synced = downstream
        self.upstream, self.downstream = upstream, downstream
        return due

    def update_run(self, upstream: int, downstream: int, count: int, lag_max: int) -> range:
        """`count` records, consecutive on both sides, were acknowledged; the indexes of those that were due.

        Law: the same state and the same answers as `update` gives for them one by one.
        """
        last, stride = count - 1, max(lag_max + 1, 1)
        # But for the first, only the lag can make one due.
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
    """The syncs of one task that are to be sent: `pending` now, `delayed` with the next commit.

    There is at most one of each per partition, the newest; the order is that of first need. `passed` holds
    those that were pending before, oldest first.
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
        """Law: pending and delayed are the same as after `count` calls, one for each record of the run."""
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
        """A newer sync is due: keep the one that is pending, and some of those between the two."""
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
        """With a commit of offsets, what was delayed is due."""
        self.pending.update(self.delayed)
        self.delayed.clear()

    def take(self, permits: int) -> Iterator[OffsetSync]:
        """The oldest `permits` of those pending, to be sent now, each behind those that have passed."""
        for partition in list(self.pending)[:permits]:
            yield from self.passed.pop(partition, ())
            yield self.pending.pop(partition)
