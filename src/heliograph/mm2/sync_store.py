"""Translates offsets by offset syncs, exactly as MM2's `OffsetSyncStore`.

Each source partition has 64 slots, exponentially sparser with age; neighbours may share a sync.
With `up[i]` the upstream offset of slot i, and slots i < j that hold different syncs:

    A  slot 0 is the newest sync
    B  up[i] <= up[j] + 2^j - 2^i         dense enough: a translation is late by a bounded factor
    C  up[i] >= up[j] + 2^max(i-2, 0)     sparse enough: 64 slots reach over 2^63 offsets
    D  slot 63 is the oldest usable sync

A translated offset is that of a sync, or the next one: never ahead of the truth, whatever holes are between
two syncs. Two runs of a task must agree, so which syncs are kept is part of the contract, down to Java's
identity of objects and int64 wraparound.
"""

from __future__ import annotations

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.model import TopicPartition

_SLOTS = 64
_LAST = _SLOTS - 1

#: Java adds in int64. A bound beyond that turns negative, which satisfies B and violates C; Python's
#: unbounded sum gives the same result, since no offset reaches such a bound. Bounds that are negative
#: because an offset is negative count the same way.
_DENSE = tuple(1 << slot for slot in range(_SLOTS))  # B, by i: 2^(i+1) - 2^i
_SPARSE = tuple(1 << max(slot - 2, 0) for slot in range(_SLOTS))  # C, by i

#: (upstream, downstream); compared by identity.
_Sync = tuple[int, int]


class OffsetSyncStore:
    """`must_read_to_end`: until `reached_end`, only the newest sync of a partition is kept, since without
    earlier checkpoints an older one might make translations move back (KAFKA-15905)."""

    def __init__(self, *, must_read_to_end: bool) -> None:
        self._only_newest = must_read_to_end
        self._reached_end = False
        self._slots: dict[TopicPartition, list[_Sync]] = {}

    def apply(self, sync: OffsetSync) -> None:
        """Apply a sync, in the order of the topic. A lower upstream offset drops all earlier syncs."""
        topic, partition, upstream, downstream = sync
        key = TopicPartition(topic, partition)
        new = (upstream, downstream)
        old = self._slots.get(key)
        if old is None or self._only_newest or upstream < old[0][0]:
            self._slots[key] = [new] * _SLOTS
        else:
            self._slots[key] = _updated(old, new)

    def forget(self, partition: TopicPartition) -> None:
        """Drop all syncs of a partition: its log is another one now."""
        self._slots.pop(partition, None)

    def retreat(self, sync: OffsetSync) -> bool:
        """Drop syncs that contradict this newer one, before it is applied: a later record of the source is
        at their offset on the target, or before it, as after a remote topic was created again or truncated.
        MM2 keeps them. Returns whether there were any."""
        slots = self._slots.get(sync.topic_partition, [])
        new = (sync.upstream, sync.downstream)
        if not slots or sync.upstream < slots[0][0] or new in slots:
            return False
        if sync.downstream > slots[0][1]:
            return False
        self.forget(sync.topic_partition)
        for upstream, downstream in reversed(list(dict.fromkeys(slots))):
            if downstream < sync.downstream:
                self.apply(sync._replace(upstream=upstream, downstream=downstream))
        return True

    def reached_end(self) -> None:
        """All records of the topic have been applied: translation is possible from now on."""
        self._reached_end = True
        self._only_newest = False

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        """The downstream offset for a group that is at `upstream` of a source partition.

        None: not known (yet). -1: older than every sync that is kept.
        """
        slots = self._slots.get(partition)
        if slots is None or not self._reached_end:
            return None
        for sync in slots:
            if sync[0] <= upstream:
                return sync[1] if sync[0] == upstream else sync[1] + 1
        return -1

    def behind(self, partition: TopicPartition, upstream: int) -> int:
        """How many records the translation of `upstream` may be behind the truth, at most."""
        for sync in self._slots.get(partition, ()):
            if sync[0] <= upstream:
                return max(upstream - sync[0] - 1, 0)
        return 0

    def syncs(self, partition: TopicPartition) -> list[tuple[int, int]]:
        """(upstream, downstream) that are kept, slot 0 to 63; empty if there is none."""
        return list(self._slots.get(partition, ()))


def _updated(old: list[_Sync], new: _Sync) -> list[_Sync]:
    """The slots after `new`. Old syncs move towards slot 63 only as far as B demands; of those that may
    fill a slot the newest that keeps C on both sides is taken (`OffsetSyncStore.updateSyncArray`)."""
    slots = old.copy()
    slots[0] = new
    replacement = before = new
    index = 0  # of the old slot that is considered as a replacement
    for current in range(1, _SLOTS):
        index, replacement = _replacement(old, slots, current, index, replacement)
        occupant = slots[current]
        bound = occupant[0] + _DENSE[current - 1]
        if before is occupant or bound < 0 or before[0] <= bound:
            break  # B holds here, so it holds for all later slots
        slots[current] = before = replacement
    return slots


def _replacement(
    old: list[_Sync], slots: list[_Sync], current: int, index: int, replacement: _Sync
) -> tuple[int, _Sync]:
    """The next old sync that may fill slot `current`, and the index to continue at."""
    before = slots[current - 1]
    behind = slots[current + 1] if current < _LAST else None
    while True:
        candidate = old[index]
        same = candidate is before
        bound = candidate[0] + _SPARSE[current - 1]
        separate = same or 0 <= bound <= before[0]
        bound = candidate[0] + _DENSE[current - 1]
        usable = separate and (same or bound < 0 or before[0] <= bound)
        if usable and behind is not None and candidate is not behind:
            bound = behind[0] + _SPARSE[current]
            usable = 0 <= bound <= candidate[0]
        if usable:
            replacement = candidate
        skip = not separate or (index < _LAST and candidate is old[index + 1])
        if usable or skip:
            index += 1
        if not skip or index >= current:
            return index, replacement
