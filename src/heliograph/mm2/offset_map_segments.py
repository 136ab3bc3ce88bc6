"""Stretches on their way to and from the state topic, in chunks whose number stays bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import MAX_STRETCHES, OffsetMap, OffsetRange
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import CHUNK_STRETCHES, OffsetMapSegment, chunks_of
from heliograph.model import TopicIdPair, TopicPartition

#: Per partition and session of a task. What is older is taken out of the topic again.
MAX_CHUNKS = MAX_STRETCHES // CHUNK_STRETCHES
#: So many chunks above the least possible are not worth a rewrite at a restart.
_SLACK = 8


class OffsetMapSegments:
    """What one task writes of one partition: the open chunk again and again under its key, until it is
    full or the mirror rewinds; then the next one.

    Law: everything taken so far, read back, translates as the stretches appended so far do, but for the
    oldest of more than `MAX_CHUNKS` chunks.
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
        self._full: deque[OffsetMapSegment] = deque(maxlen=MAX_CHUNKS)  # not written yet
        self._written: deque[int] = deque()  # the keys of full ones that are
        self._stale: list[int] = []  # keys to be taken out of the topic

    def append(self, stretch: OffsetRange) -> None:
        last = self._open.last
        if last is not None and stretch.upstream < last.upstream:
            self._rewind(stretch.upstream)
        elif len(self._open) == CHUNK_STRETCHES:
            self._close()
        before = len(self._open)
        self._open.append(stretch)
        self._changed = True
        self._begun = self._begun or len(self._open) != before

    @property
    def begun(self) -> bool:
        """Whether stretches have begun since all was taken; one that only goes on is known by its begin."""
        return self._begun

    def take(self) -> list[OffsetMapSegment]:
        """What to write now, in this order; a chunk without stretches is a tombstone."""
        self._begun = False
        full = list(self._full)
        self._full.clear()
        self._written += (chunk.first for chunk in full)
        while len(self._written) > MAX_CHUNKS:
            self._stale.append(self._written.popleft())
        stale, self._stale = self._stale, []
        chunks = [
            OffsetMapSegment(topic_partition=self._partition, first=first, stretches=())
            for first in stale
        ]
        chunks += full
        if self._changed:
            chunks += chunks_of(self._partition, list(self._open), self._origin)
            self._changed = False
        return chunks

    def _close(self) -> None:
        self._full += chunks_of(self._partition, list(self._open), self._origin)
        self._open = OffsetMap()

    def _rewind(self, upstream: int) -> None:
        """Chunks that start at or behind this offset say nothing any more."""
        self._close()
        self._stale += (first for first in self._written if first >= upstream)
        self._stale += (chunk.first for chunk in self._full if chunk.first >= upstream)
        self._written = deque(first for first in self._written if first < upstream)
        kept = (chunk for chunk in self._full if chunk.first < upstream)
        self._full = deque(kept, maxlen=MAX_CHUNKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedOffsetMaps:
    """What the state topic says, in the logs of which topics, and what to write so that it says it in few
    records."""

    stretches: Mapping[TopicPartition, OffsetMap]
    origins: Mapping[TopicPartition, TopicIdPair]
    rewrites: tuple[OffsetMapSegment, ...]
    malformed: tuple[str, ...]


def load_stretches(
    records: Iterable[tuple[bytes | None, bytes | None]],
    log_starts: Mapping[TopicPartition, int] | None = None,
) -> LoadedOffsetMaps:
    """`records` in the order of the topic; `log_starts` of source partitions, where they are known."""
    chunks: list[OffsetMapSegment] = []
    malformed: list[str] = []
    for key, value in records:
        read = read_state(key, value)
        if isinstance(read, Malformed):
            malformed.append(read.reason)
        elif isinstance(read, OffsetMapSegment):
            chunks.append(read)
    return replace(merge_chunks(chunks, {}, log_starts), malformed=tuple(malformed))


def merge_chunks(
    read: Iterable[OffsetMapSegment],
    logs: Mapping[str, TopicIdPair],
    log_starts: Mapping[TopicPartition, int] | None = None,
) -> LoadedOffsetMaps:
    """`logs` are the topics of today, by source topic, where they are known: chunks of others are dropped.
    Where they are not, the newest chunk of a partition says which topics count.

    Laws: written, `rewrites` change no translation of an offset that a group can have; a partition has
    at most `_SLACK` chunks more than it needs afterwards.
    """
    chunks: dict[TopicPartition, dict[int, OffsetMapSegment]] = {}
    for chunk in read:
        its = chunks.setdefault(chunk.topic_partition, {})
        its.pop(chunk.first, None)  # the newest of a key stands where it was written
        if chunk.stretches:
            its[chunk.first] = chunk
    stretches, origins, rewrites = {}, {}, []
    for partition, its in chunks.items():
        origin = _today(its.values(), logs.get(partition.topic, TopicIdPair()))
        merged = OffsetMap(
            stretch
            for chunk in its.values()
            if not chunk.origin.differs(origin)
            for stretch in chunk.stretches
        )
        if log_starts is not None and partition in log_starts:
            merged.prune(log_starts[partition])
        if len(merged):
            stretches[partition], origins[partition] = merged, origin
        rewrites += _rewrites(partition, its, merged, origin)
    return LoadedOffsetMaps(
        stretches=stretches, origins=origins, rewrites=tuple(rewrites), malformed=()
    )


def _today(chunks: Iterable[OffsetMapSegment], known: TopicIdPair) -> TopicIdPair:
    origin = known
    for chunk in reversed(list(chunks)):
        if not chunk.origin.differs(origin):
            origin = origin.or_else(chunk.origin)
    return origin


def _rewrites(
    partition: TopicPartition,
    chunks: Mapping[int, OffsetMapSegment],
    merged: OffsetMap,
    origin: TopicIdPair,
) -> list[OffsetMapSegment]:
    """The chunks anew, and tombstones for those that are not needed any more, if that is worth it."""
    wanted = chunks_of(partition, list(merged), origin)
    outdated = any(chunk.origin.differs(origin) for chunk in chunks.values())
    if not outdated and len(chunks) <= len(wanted) + (_SLACK if wanted else 0):
        return []
    needed = {chunk.first for chunk in wanted}
    gone = [
        OffsetMapSegment(topic_partition=partition, first=first, stretches=())
        for first in chunks
        if first not in needed
    ]
    return wanted + gone
