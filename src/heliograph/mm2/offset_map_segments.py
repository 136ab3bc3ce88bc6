"""Stores offset ranges in the state topic in a bounded number of segments, and loads them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import MAX_RANGES, OffsetMap, OffsetRange
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import SEGMENT_RANGES, OffsetMapSegment, segments_of
from heliograph.model import TopicIdPair, TopicPartition

#: Per partition and run of a task. Older segments are deleted from the topic.
MAX_SEGMENTS = MAX_RANGES // SEGMENT_RANGES
#: So many segments above the minimum are not worth a rewrite at a restart.
_SLACK = 8


class OffsetMapSegments:
    """The segments that one task writes for one partition: the open segment again and again under its key,
    until it is full or the mirror rewinds; then the next one.

    Law: all segments taken so far, read back, translate as the appended ranges do, except for the oldest
    beyond `MAX_SEGMENTS`.
    """

    __slots__ = (
        "_begun",
        "_changed",
        "_full",
        "_open",
        "_origin",
        "_partition",
        "_stale",
        "_written",
    )

    def __init__(self, partition: TopicPartition, origin: TopicIdPair | None = None) -> None:
        self._partition = partition
        self._origin = origin or TopicIdPair()
        self._open = OffsetMap()
        self._changed = False
        self._begun = False
        self._full: deque[OffsetMapSegment] = deque(maxlen=MAX_SEGMENTS)  # not written yet
        self._written: deque[int] = deque()  # the keys of full ones that are written
        self._stale: list[int] = []  # keys to be deleted from the topic

    def append(self, each: OffsetRange) -> None:
        last = self._open.last
        if last is not None and each.upstream < last.upstream:
            self._rewind(each.upstream)
        elif len(self._open) == SEGMENT_RANGES:
            self._close()
        before = self._begin_of_last()
        self._open.append(each)
        self._changed = True
        self._begun = self._begun or self._begin_of_last() != before

    def _begin_of_last(self) -> tuple[int, ...]:
        last = self._open.last
        return (len(self._open), *(last[:2] if last is not None else ()))

    @property
    def begun(self) -> bool:
        """Whether a range has begun since the last `take`; growth of a range alone does not count."""
        return self._begun

    def take(self) -> list[OffsetMapSegment]:
        """The segments to write now, in this order; one without ranges is a tombstone."""
        self._begun = False
        full = list(self._full)
        self._full.clear()
        self._written += (segment.first for segment in full)
        while len(self._written) > MAX_SEGMENTS:
            self._stale.append(self._written.popleft())
        stale, self._stale = self._stale, []
        segments = [
            OffsetMapSegment(topic_partition=self._partition, first=first, ranges=())
            for first in stale
        ]
        segments += full
        if self._changed:
            segments += segments_of(self._partition, list(self._open), self._origin)
            self._changed = False
        return segments

    def _close(self) -> None:
        self._full += segments_of(self._partition, list(self._open), self._origin)
        self._open = OffsetMap()

    def _rewind(self, upstream: int) -> None:
        """Drop segments that start at or after this offset."""
        self._close()
        self._stale += (first for first in self._written if first >= upstream)
        self._stale += (segment.first for segment in self._full if segment.first >= upstream)
        self._written = deque(first for first in self._written if first < upstream)
        kept = (segment for segment in self._full if segment.first < upstream)
        self._full = deque(kept, maxlen=MAX_SEGMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedOffsetMaps:
    """The offset maps in the state topic, the topic ids they belong to, and the records that would store the
    same in fewer segments."""

    offset_maps: Mapping[TopicPartition, OffsetMap]
    origins: Mapping[TopicPartition, TopicIdPair]
    rewrites: tuple[OffsetMapSegment, ...]
    malformed: tuple[str, ...]


def load_offset_maps(
    records: Iterable[tuple[bytes | None, bytes | None]],
    log_starts: Mapping[TopicPartition, int] | None = None,
) -> LoadedOffsetMaps:
    """`records` in the order of the topic; `log_starts` of source partitions, if known."""
    segments: list[OffsetMapSegment] = []
    malformed: list[str] = []
    for key, value in records:
        read = read_state(key, value)
        if isinstance(read, Malformed):
            malformed.append(read.reason)
        elif isinstance(read, OffsetMapSegment):
            segments.append(read)
    return replace(merge_segments(segments, {}, log_starts), malformed=tuple(malformed))


def merge_segments(
    read: Iterable[OffsetMapSegment],
    logs: Mapping[str, TopicIdPair],
    log_starts: Mapping[TopicPartition, int] | None = None,
) -> LoadedOffsetMaps:
    """`logs` are the ids of the current topics by source topic, if known: segments of others are dropped. If
    not known, the newest segment of a partition decides.

    Laws: writing `rewrites` changes no translation of an offset that a group can have; afterwards a
    partition has at most `_SLACK` segments more than it needs.
    """
    segments: dict[TopicPartition, dict[int, OffsetMapSegment]] = {}
    for segment in read:
        its = segments.setdefault(segment.topic_partition, {})
        its.pop(segment.first, None)  # a key is ordered by its newest record
        if segment.ranges:
            its[segment.first] = segment
    offset_maps, origins, rewrites = {}, {}, []
    for partition, its in segments.items():
        origin = _today(its.values(), logs.get(partition.topic, TopicIdPair()))
        merged = OffsetMap(
            each
            for segment in its.values()
            if not segment.origin.differs(origin)
            for each in segment.ranges
        )
        if log_starts is not None and partition in log_starts:
            merged.prune(log_starts[partition])
        if len(merged):
            offset_maps[partition], origins[partition] = merged, origin
        rewrites += _rewrites(partition, its, merged, origin)
    return LoadedOffsetMaps(
        offset_maps=offset_maps, origins=origins, rewrites=tuple(rewrites), malformed=()
    )


def _today(segments: Iterable[OffsetMapSegment], known: TopicIdPair) -> TopicIdPair:
    origin = known
    for segment in reversed(list(segments)):
        if not segment.origin.differs(origin):
            origin = origin.or_else(segment.origin)
    return origin


def _rewrites(
    partition: TopicPartition,
    segments: Mapping[int, OffsetMapSegment],
    merged: OffsetMap,
    origin: TopicIdPair,
) -> list[OffsetMapSegment]:
    """The merged segments, and tombstones for those no longer needed, if a rewrite is worth it."""
    wanted = segments_of(partition, list(merged), origin)
    outdated = any(segment.origin.differs(origin) for segment in segments.values())
    if not outdated and len(segments) <= len(wanted) + (_SLACK if wanted else 0):
        return []
    needed = {segment.first for segment in wanted}
    gone = [
        OffsetMapSegment(topic_partition=partition, first=first, ranges=())
        for first in segments
        if first not in needed
    ]
    return wanted + gone
