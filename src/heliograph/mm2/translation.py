"""Translates a group's source offset to the target: exactly if possible, by offset syncs if not.

Law: a translation is never ahead of the truth, which is the downstream offset of the first mirrored record
at or after the group's offset.
"""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.mm2.offset_map import LOST, OffsetMap
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import TopicPartition


class Translation:
    """`offset_maps` has the exact ranges by source partition; both arguments may grow meanwhile."""

    def __init__(
        self, store: OffsetSyncStore, offset_maps: Mapping[TopicPartition, OffsetMap]
    ) -> None:
        self._store = store
        self._offset_maps = offset_maps

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        """None: nothing is known of the partition. -1: `upstream` is older than all that is known."""
        known = self._offset_maps.get(partition)
        exact = known.translate(upstream) if known is not None else None
        if exact is not None:
            return exact
        synced = self._store.translate(partition, upstream)
        last = known.last if known is not None else None
        if last is None or last.downstream == LOST or upstream < last.end:
            return synced
        # The group is ahead of the ranges known so far: it is at least at their end. A sync may be further,
        # since it was read earlier or written by Java's MM2.
        copied = last.downstream + last.count
        return copied if synced is None else max(copied, synced)

    def behind(self, partition: TopicPartition, upstream: int) -> int:
        """How many records a group that is at the translation of `upstream` may read again, at most. 0: the
        translation is exact, or there is none."""
        found = self.translate(partition, upstream)
        known = self._offset_maps.get(partition)
        if found is None or found < 0 or (known is not None and known.translate(upstream) == found):
            return 0
        last = known.last if known is not None else None
        ahead = last is not None and last.downstream != LOST and upstream >= last.end
        if ahead and last is not None and found == last.downstream + last.count:
            return upstream - last.end
        return self._store.behind(partition, upstream)
