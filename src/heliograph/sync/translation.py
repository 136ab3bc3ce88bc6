"""Translates offsets of one flow by offset syncs and by exact ranges, and keeps both up to date."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.mm2.known_offsets import KnownOffsets
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map import OffsetRange
from heliograph.mm2.offset_map_segments import LoadedOffsetMaps, merge_segments
from heliograph.mm2.offset_sync import read_offset_sync, read_origin
from heliograph.mm2.state_reading import State, read_state
from heliograph.mm2.state_records import OffsetMapSegment, state_topic
from heliograph.model import SyncsLocation, TopicIdPair, TopicPartition
from heliograph.model import Translation as Mode
from heliograph.records.decode import Record
from heliograph.sync.logs import MirroredLogs, Recreated

log = logging.getLogger(__name__)


class FlowTranslation:
    """Follows the offset-syncs topic on either cluster, keeps the ranges that tasks report, and drops what
    belongs to topics that do not exist any more. `remote_of` returns the remote topic of a source topic, or
    None."""

    def __init__(
        self,
        flow: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        remote_of: Callable[[str], str | None],
    ) -> None:
        assert flow.checkpoints is not None
        self.malformed = 0
        self._flow = flow
        self._target = target
        self._remote_of = remote_of
        self._exact = flow.checkpoints.translation is Mode.EXACT
        self._known = KnownOffsets()
        self._logs = MirroredLogs(flow, flow.checkpoints.connector_name, source, target)
        self._recreated: list[Recreated] = []
        self._outdated: set[str] = set()  # source topics whose syncs so far are to be dropped
        #: Ranges reported before `load`; None after it.
        self._untold: list[tuple[TopicPartition, TopicIdPair, OffsetRange]] | None = []
        self._must_read_to_end = True
        self._missed = False
        self._unapplied: list[Record] = []
        self._tail: LogTail | None = None
        if flow.offset_syncs is not None:
            there = source if flow.offset_syncs.location is SyncsLocation.SOURCE else target
            self._tail = LogTail(there, flow.offset_syncs.topic.name)

    @property
    def versions(self) -> Mapping[TopicPartition, int]:
        """The number of changes by source partition."""
        return self._known.versions

    @property
    def topics(self) -> frozenset[str]:
        """Source topics whose logs are known."""
        return self._logs.topics

    def target_id(self, topic: str) -> str | None:
        """The id of the remote topic that translations of this source topic belong to."""
        return self._logs.known(topic).target

    def translate(self, partition: TopicPartition, upstream: int) -> int | None:
        if partition.topic in self._logs.gone:
            return None
        return self._known.translate(partition, upstream)

    def behind(self, partition: TopicPartition, upstream: int) -> int:
        """How many records a group at the translation of `upstream` may read again, at most."""
        return self._known.behind(partition, upstream)

    def learn(
        self, partition: TopicPartition, origin: TopicIdPair, ranges: Iterable[OffsetRange]
    ) -> None:
        if not self._exact:
            return
        for each in ranges:
            if self._untold is not None:
                self._untold.append((partition, origin, each))
            else:
                self._known.learn(partition, origin, each)

    def load(self, now_ms: int | None, *, must_read_to_end: bool) -> dict[str, str]:
        """Load what was stored before this start; call it once. If that fails, translation is less precise,
        and topics created again meanwhile are not noticed.

        With `now_ms` the same may be rewritten in fewer records; None: nothing is written.
        """
        self._must_read_to_end = must_read_to_end
        self._known.begin_syncs(must_read_to_end=must_read_to_end)
        problems: dict[str, str] = {}
        topic = state_topic(self._flow.source)
        try:
            self._load_state(topic, now_ms)
        except BrokerError as e:
            if e.retriable:
                raise
            problems[topic] = f"{e}; offsets from before this start are translated by offset syncs"
        untold, self._untold = self._untold or [], None
        for each in untold:
            self._known.learn(*each)
        return problems

    def refresh(self, names: Mapping[str, str]) -> dict[str, str]:
        """Read new offset syncs, and check the ids of `names`, source topics with their remote topics.
        Returns problems with the offset-syncs topic."""
        self._read_syncs()
        self._look(names)  # after the reading: what was read is not newer than these ids
        self._drop_outdated()
        records, self._unapplied = self._unapplied, []
        for record in records:
            self._apply(record)
        self._look(self._remote_topics(self._known.unknown_topics - names.keys()))
        self._known.syncs_reached_end()
        return self._missing_syncs()

    def take_recreated(self) -> list[Recreated]:
        """Topics that were created again, since the last call."""
        recreated, self._recreated = self._recreated, []
        return recreated

    def keep_logs(self, now_ms: int) -> dict[str, str]:
        """Store the topic ids, once the checkpoints belong to them."""
        return self._logs.write(now_ms)

    # ── topics ───────────────────────────────────────────────────────────────────────────────

    def _look(self, names: Mapping[str, str]) -> None:
        recreated = self._logs.look(names)
        self._recreated += recreated
        self._outdated |= {each.topic for each in recreated}
        for topic in names:
            self._known.set_logs(topic, self._logs.known(topic))

    def _remote_topics(self, topics: Iterable[str]) -> dict[str, str]:
        return {t: remote for t in topics if (remote := self._remote_of(t)) is not None}

    def _drop_outdated(self) -> None:
        """Ignore syncs without topic ids from before their topics were created again."""
        outdated, self._outdated = self._outdated, set()
        if self._tail is not None:
            for topic in outdated:
                self._logs.set_barrier(topic, self._tail.topic_id, self._tail.position)

    # ── offset syncs ─────────────────────────────────────────────────────────────────────────

    def _read_syncs(self) -> None:
        """They are applied once the ids of their topics are read, which may fail."""
        if self._tail is None:
            return
        records = self._tail.read_new()
        if self._tail.restarted:
            self._known.begin_syncs(must_read_to_end=self._must_read_to_end)
            self._unapplied = []
        self._unapplied += records

    def _apply(self, record: Record) -> None:
        assert self._tail is not None
        sync = read_offset_sync(record.key, record.value)
        if isinstance(sync, Malformed):
            self.malformed += 1
            log.warning(
                "%s: skipping a malformed record: %s", self._tail.partition.topic, sync.reason
            )
            return
        origin = read_origin(record.headers)
        if all(origin) or not self._logs.is_outdated(
            sync.topic, self._tail.topic_id, record.offset
        ):
            self._known.learn(sync.topic_partition, origin, sync)

    def _missing_syncs(self) -> dict[str, str]:
        if self._tail is None:
            return {}
        missed, self._missed = self._missed, self._tail.missing
        if not (
            missed and self._tail.missing
        ):  # at a first start another thread may be creating it
            return {}
        topic = self._tail.partition.topic
        return {
            topic: f"{topic} does not exist, or may not be described: no offset syncs are known"
        }

    # ── the state topic ──────────────────────────────────────────────────────────────────────

    def _load_state(self, topic: str, now_ms: int | None) -> None:
        states = self._read_state(topic)
        self._logs.load(states)
        if not self._exact:
            return
        # Segments without topic ids belong to the topics known at that time, or to older ones.
        segments = [
            replace(
                state, origin=state.origin.or_else(self._logs.known(state.topic_partition.topic))
            )
            for state in states
            if isinstance(state, OffsetMapSegment)
        ]
        topics = {segment.topic_partition.topic for segment in segments}
        self._look(self._remote_topics(topics))
        loaded = merge_segments(segments, self._known.logs)
        self._known.load(loaded.offset_maps, loaded.origins)
        if now_ms is not None:
            self._tidy(topic, loaded, now_ms)

    def _read_state(self, topic: str) -> list[State]:
        """The newest record of each key, in the order of the topic."""
        newest: dict[bytes | None, State] = {}
        for record in LogTail(self._target, topic).read_new():
            state = read_state(record.key, record.value)
            if isinstance(state, Malformed):
                self.malformed += 1
                log.warning("%s: skipping a malformed record: %s", topic, state.reason)
                continue
            newest.pop(record.key, None)
            if state is not None:
                newest[record.key] = state
        return list(newest.values())

    def _tidy(self, topic: str, loaded: LoadedOffsetMaps, now_ms: int) -> None:
        """Write the same in fewer records; except for partitions whose tasks have begun to write, since an
        older segment must not follow a newer one."""
        busy = {partition for partition, _, _ in self._untold or ()}
        records = [
            Record(timestamp=now_ms, key=segment.key(), value=segment.value())
            for segment in loaded.rewrites
            if segment.topic_partition not in busy
        ]
        if records:
            RecordWriter(self._target, topic).write({0: records})
