"""What is known of a flow's offsets, in the logs that its topics have now.

    range, sync ──► about these topics? ── yes ──► what is known of the partition ──► translation
                               │ no
                               └──► aside, until brokers tell of those topics

A topic that was deleted and created again has another id, and its offsets begin anew: what was known of the
old log would translate into wrong places of the new one. So everything that is known carries the ids of
the topics it is about, as far as its writer knew them, and is dropped when brokers tell of others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from heliograph.mm2.offset_map import OffsetMap, OffsetRange
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.mm2.translation import Translation
from heliograph.model import TopicIdPair, TopicPartition

#: Ranges and syncs about topics that no broker has told of yet; of more, the oldest are dropped.
_ASIDE = 10_000


class KnownOffsets:
    """`versions` counts, for each source partition, how often what is known of it has changed. `logs` are the
    topics of today by source topic, as far as brokers told."""

    def __init__(self) -> None:
        self.versions: dict[TopicPartition, int] = {}
        self.logs: dict[str, TopicIdPair] = {}
        self._offset_maps: dict[TopicPartition, OffsetMap] = {}
        #: What the known ranges and syncs are about, by source topic and partition.
        self._origins: dict[str, dict[int, TopicIdPair]] = {}
        self._aside: deque[tuple[TopicPartition, TopicIdPair, OffsetRange | OffsetSync]] = deque(
            maxlen=_ASIDE
        )
        self.begin_syncs(must_read_to_end=True)

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        return self._translation.translate(partition, upstream)

    def begin_syncs(self, *, must_read_to_end: bool) -> None:
        """All offset syncs are read anew."""
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
        """What earlier services have learnt, of the topics of today."""
        for partition, its in offset_maps.items():
            self._offset_maps[partition] = its
            self._label(partition, origins[partition])
            self._bump(partition)

    def learn(
        self, partition: TopicPartition, origin: TopicIdPair, news: OffsetRange | OffsetSync
    ) -> None:
        """`origin` are the topics that `news` is about; without ids, those of today."""
        logs = self.logs.get(partition.topic)
        known = self._origins.get(partition.topic, {}).get(partition.partition, TopicIdPair())
        if (known if logs is None else logs).differs(origin):
            self._aside.append((partition, origin, news))
            return
        if known.differs(origin):  # brokers do not tell which: the newest word counts
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
        """Source topics of which there is word about others than are known: brokers should be asked."""
        return {partition.topic for partition, _, _ in self._aside}

    def set_logs(self, topic: str, found: TopicIdPair) -> None:
        """Brokers tell of these topics now; an id that they do not tell is the one that was."""
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
