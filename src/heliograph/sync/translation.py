"""What is known of one flow's offsets: MM2's syncs as they are written, and stretches of exact copying."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import Stretch, Stretches
from heliograph.mm2.offset_map_segments import LoadedStretches, load_stretches
from heliograph.mm2.offset_sync import read_offset_sync
from heliograph.mm2.state_records import state_topic
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.mm2.translation import Translation
from heliograph.model import SyncsLocation, TopicPartition
from heliograph.model import Translation as Mode
from heliograph.records.decode import Record

log = logging.getLogger(__name__)


class FlowTranslation:
    """Follows the offset-syncs topic, wherever it is, and remembers what tasks tell.

    `versions` counts, for each source partition, how often more has become known of it.
    """

    def __init__(self, flow: FlowConfig, source: ClusterClient, target: ClusterClient) -> None:
        self.versions: dict[TopicPartition, int] = {}
        self.malformed = 0
        self._flow = flow
        self._target = target
        self._exact = flow.checkpoints is not None and flow.checkpoints.translation is Mode.EXACT
        self._stretches: dict[TopicPartition, Stretches] = {}
        self._untold: (
            list[tuple[TopicPartition, Stretch]] | None
        ) = []  # until the durable are loaded
        self._must_read_to_end = True
        self._new_store()
        self._missed = False
        self._tail: LogTail | None = None
        if flow.offset_syncs is not None:
            there = source if flow.offset_syncs.location is SyncsLocation.SOURCE else target
            self._tail = LogTail(there, flow.offset_syncs.topic.name)

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        return self._translation.translate(partition, upstream)

    def learn(self, partition: TopicPartition, stretches: Iterable[Stretch]) -> None:
        if not self._exact:
            return
        for stretch in stretches:
            if self._untold is not None:
                self._untold.append((partition, stretch))
            else:
                self._append(partition, stretch)

    def load(self, now_ms: int | None, *, must_read_to_end: bool) -> dict[str, str]:
        """What was learnt before this start; call it once. A problem costs precision only.

        At `now_ms` the same may be written in fewer records; None: nothing is written.
        """
        self._must_read_to_end = must_read_to_end
        self._new_store()
        problems: dict[str, str] = {}
        if self._exact:
            topic = state_topic(self._flow.source)
            try:
                self._load_stretches(topic, now_ms)
            except BrokerError as e:
                if e.retriable:
                    raise
                problems[topic] = f"{e}; offsets from before this start are translated by syncs"
        untold, self._untold = self._untold or [], None
        for partition, stretch in untold:
            self._append(partition, stretch)
        return problems

    def refresh(self) -> dict[str, str]:
        """Read the syncs that came since; what is wrong with their topic: name -> sentence."""
        if self._tail is None:
            self._store.reached_end()
            return {}
        records = self._tail.read_new()
        if self._tail.restarted:
            self._new_store()
            self._bump_all()
        for record in records:
            sync = read_offset_sync(record.key, record.value)
            if isinstance(sync, Malformed):
                self.malformed += 1
                log.warning("%s: passed over: %s", self._tail.partition.topic, sync.reason)
            else:
                self._store.apply(sync)
                self._bump(sync.topic_partition)
        self._store.reached_end()
        missed, self._missed = self._missed, self._tail.missing
        if not (missed and self._tail.missing):  # at a first start others are just creating it
            return {}
        topic = self._tail.partition.topic
        return {topic: f"{topic} is not there, or may not be described: no offset syncs are known"}

    def _load_stretches(self, topic: str, now_ms: int | None) -> None:
        records = LogTail(self._target, topic).read_new()
        loaded = load_stretches((record.key, record.value) for record in records)
        for reason in loaded.malformed:
            log.warning("%s: a record is passed over: %s", topic, reason)
        self.malformed += len(loaded.malformed)
        self._stretches.update(loaded.stretches)
        for partition in loaded.stretches:
            self._bump(partition)
        if now_ms is not None:
            self._tidy(topic, loaded, now_ms)

    def _tidy(self, topic: str, loaded: LoadedStretches, now_ms: int) -> None:
        """Write the same in fewer records; not of partitions whose tasks have begun to write, since an
        older chunk must not stand behind a newer one."""
        busy = {partition for partition, _ in self._untold or ()}
        records = [
            Record(timestamp=now_ms, key=chunk.key(), value=chunk.value())
            for chunk in loaded.rewrites
            if chunk.topic_partition not in busy
        ]
        if records:
            RecordWriter(self._target, topic).write({0: records})

    def _append(self, partition: TopicPartition, stretch: Stretch) -> None:
        self._stretches.setdefault(partition, Stretches()).append(stretch)
        self._bump(partition)

    def _bump(self, partition: TopicPartition) -> None:
        self.versions[partition] = self.versions.get(partition, 0) + 1

    def _bump_all(self) -> None:
        for partition in self.versions:
            self._bump(partition)

    def _new_store(self) -> None:
        self._store = OffsetSyncStore(must_read_to_end=self._must_read_to_end)
        self._translation = Translation(self._store, self._stretches)
