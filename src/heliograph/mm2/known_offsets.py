"""Keeps the offset ranges and syncs of a flow that belong to its current topics, by topic id.

    range, sync ──► of the current topics? ── yes ──► known of the partition ──► translation
                               │ no
                               └──► set aside, until brokers report those topics

A topic that was deleted and created again has another id, and its offsets start again at 0: ranges of the
old log would translate to wrong offsets of the new one. So every range and sync carries the ids of its
topics, as far as its writer knew them, and is dropped when brokers report other ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from heliograph.mm2.offset_map import OffsetMap, OffsetRange
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.mm2.translation import Translation
from heliograph.model import TopicIdPair, TopicPartition

#: Ranges and syncs of topics that no broker has reported yet; beyond this the oldest are dropped.
_ASIDE = 10_000


class KnownOffsets:
    """`versions` counts the changes of what is known, by source partition. `logs` are the ids of the current
    topics by source topic, as far as brokers have reported them."""

    def __init__(self) -> None:
        self.versions: dict[TopicPartition, int] = {}
        self.logs: dict[str, TopicIdPair] = {}
        self._offset_maps: dict[TopicPartition, OffsetMap] = {}
        #: The topic ids of the known ranges and syncs, by source topic and partition.
        self._origins: dict[str, dict[int, TopicIdPair]] = {}
        self._aside: deque[tuple[TopicPartition, TopicIdPair, OffsetRange | OffsetSync]] = deque(
            maxlen=_ASIDE
        )
        self.begin_syncs(must_read_to_end=True)

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        return self._translation.translate(partition, upstream)

    def behind(self, partition: TopicPartition, upstream: int) -> int:
        return self._translation.behind(partition, upstream)

    def begin_syncs(self, *, must_read_to_end: bool) -> None:
        """Start over: all offset syncs will be read again."""
        self._store = OffsetSyncStore(must_read_to_end=must_read_to_end)
        self._translation = Translation(self._store, self._offset_maps)
        for partition in self.versions:
            self._bump(partition)

    def syncs_reached_end(self) -> None:
        self._store.reached_end()

    def load(
        self,
        offset_maps: Mapping[TopicPartition, OffsetMap],
        origins: Mapping[TopicPartition, TopicIdPair],
    ) -> None:
        """Offset maps that earlier services stored, of the current topics."""
        for partition, its in offset_maps.items():
            self._offset_maps[partition] = its
            self._label(partition, origins[partition])
            self._bump(partition)

    def learn(
        self, partition: TopicPartition, origin: TopicIdPair, news: OffsetRange | OffsetSync
    ) -> None:
        """`origin` are the topics of `news`; without ids, the current ones."""
        logs = self.logs.get(partition.topic)
        known = self._origins.get(partition.topic, {}).get(partition.partition, TopicIdPair())
        if (known if logs is None else logs).differs(origin):
            self._aside.append((partition, origin, news))
            return
        if known.differs(origin):  # brokers report no ids: the newest origin counts
            self._forget(partition)
        self._label(partition, origin)
        if isinstance(news, OffsetSync):
            self._store.retreat(news)
            self._store.apply(news)
        else:
            self._offset_maps.setdefault(partition, OffsetMap()).append(news)
        self._bump(partition)

    @property
    def unknown_topics(self) -> set[str]:
        """Source topics with ranges or syncs of unknown topic ids: metadata should be refreshed."""
        return {partition.topic for partition, _, _ in self._aside}

    def set_logs(self, topic: str, found: TopicIdPair) -> None:
        """Brokers report these topic ids now; an id that is missing stays as it was."""
        before = self.logs.get(topic, TopicIdPair())
        now = found.or_else(before)
        if self.logs.get(topic) == now:
            return
        self.logs[topic] = now
        changed = now.differs(before)
        for number, origin in list(self._origins.get(topic, {}).items()):
            if origin.differs(now) or (changed and origin != now):
                self._forget(TopicPartition(topic, number))
        aside = list(self._aside)
        self._aside.clear()
        for partition, origin, news in aside:
            self.learn(partition, origin, news)

    def _label(self, partition: TopicPartition, origin: TopicIdPair) -> None:
        its = self._origins.setdefault(partition.topic, {})
        its[partition.partition] = origin.or_else(its.get(partition.partition, TopicIdPair()))

    def _forget(self, partition: TopicPartition) -> None:
        self._offset_maps.pop(partition, None)
        self._store.forget(partition)
        self._origins[partition.topic].pop(partition.partition, None)
        self._bump(partition)

    def _bump(self, partition: TopicPartition) -> None:
        self.versions[partition] = self.versions.get(partition, 0) + 1
