"""Tracks the ids of the topics that a flow's checkpoints belong to, and stores them in the state topic.

state topic ──► known ◄──────── found on both clusters
                  └──► another topic with the same name? ──► its known offsets are void
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.state_reading import State
from heliograph.mm2.state_records import LogsRecord, PartitionStatus
from heliograph.model import TopicIdPair
from heliograph.plan.internal_topics import state_of
from heliograph.records.decode import Record
from heliograph.sync.internal_topics import ensure_internal_topic


class Recreated(NamedTuple):
    """A source topic, its remote topic, or both were deleted and created again."""

    topic: str
    remote: str
    before: TopicIdPair
    now: TopicIdPair

    @property
    def on_target(self) -> bool:
        return TopicIdPair(target=self.before.target).differs(self.now)


@dataclass(frozen=True, slots=True)
class _Barrier:
    """Offset syncs without topic ids before this offset belong to older topics."""

    syncs_id: str | None = None
    syncs_from: int = 0


class MirroredLogs:
    """Of one flow; for one thread. `gone` are source topics whose remote topics existed, and do not any
    more."""

    def __init__(
        self, flow: FlowConfig, connector: str, source: ClusterClient, target: ClusterClient
    ) -> None:
        self.gone: frozenset[str] = frozenset()
        self._connector = connector
        self._source = source
        self._target = target
        self._placed = state_of(flow)
        self._ready = False
        self._writer = RecordWriter(target, self._placed.topic.name)
        self._known: dict[str, TopicIdPair] = {}
        self._barriers: dict[str, _Barrier] = {}
        #: From partition statuses, for topics without checkpoints so far.
        self._told: dict[str, list[TopicIdPair]] = {}
        self._durable: dict[str, LogsRecord] = {}
        self._left: set[str] = set()  # ids that a broker with old metadata may still report

    @property
    def topics(self) -> frozenset[str]:
        """Source topics with a known topic id."""
        return frozenset(self._known.keys() | self._told.keys())

    def known(self, topic: str) -> TopicIdPair:
        """The ids found last, or stored by earlier services."""
        if topic in self._known:
            return self._known[topic]
        return next(iter(self._told.get(topic, ())), TopicIdPair())

    def load(self, states: Iterable[State]) -> None:
        """Load what earlier services have stored in the state topic."""
        for state in states:
            if isinstance(state, LogsRecord) and state.connector == self._connector:
                self._durable[state.topic] = state
                self._known[state.topic] = state.origin
                self._barriers[state.topic] = _Barrier(state.syncs_id, state.syncs_from)
            elif isinstance(state, PartitionStatus) and any(state.origin):
                self._told.setdefault(state.topic, []).append(state.origin)

    def look(self, names: Mapping[str, str]) -> list[Recreated]:
        """Read the ids of source topics and their remote topics; returns those that were created again."""
        if not names:
            return []
        source = self._source.refresh(names)
        target = self._target.refresh(names.values())
        recreated: list[Recreated] = []
        gone = set(self.gone.difference(names))
        for topic, remote in names.items():
            found = TopicIdPair(
                *map(self._current, (source.topic_id(topic), target.topic_id(remote)))
            )
            before = self._before(topic, found)
            if remote in target.missing and before.target is not None:
                gone.add(topic)
            now = self._known[topic] = found.or_else(before)
            if now.differs(before):
                recreated.append(Recreated(topic, remote, before, now))
                self._left |= {old for old in before if old is not None and old not in now}
        self.gone = frozenset(gone)
        return recreated

    def set_barrier(self, topic: str, syncs_id: str | None, syncs_from: int) -> None:
        self._barriers[topic] = _Barrier(syncs_id, syncs_from)

    def is_outdated(self, topic: str, syncs_id: str | None, offset: int) -> bool:
        """Whether an offset sync without topic ids, at this offset of its topic, belongs to older topics."""
        barrier = self._barriers.get(topic)
        return barrier is not None and barrier.syncs_id == syncs_id and offset < barrier.syncs_from

    def write(self, now_ms: int) -> dict[str, str]:
        """Store the ids, once the checkpoints belong to them. Returns problems with the state topic; raises
        ClientError if it cannot be written."""
        records = [self._record(topic) for topic, origin in self._known.items() if any(origin)]
        news = [record for record in records if self._durable.get(record.topic) != record]
        if not news:
            return {}
        topic = self._placed.topic.name
        problem = None if self._ready else ensure_internal_topic(self._target, self._placed)
        if problem is not None:
            return {
                topic: f"{problem}; if a remote topic is created again while this service is stopped, that "
                "will not be noticed, and offsets of groups may be ahead"
            }
        self._ready = True
        self._writer.write(
            {0: [Record(timestamp=now_ms, key=r.key(), value=r.value()) for r in news]}
        )
        self._durable |= {record.topic: record for record in news}
        return {}

    def _current(self, topic_id: str | None) -> str | None:
        return None if topic_id in self._left else topic_id

    def _before(self, topic: str, found: TopicIdPair) -> TopicIdPair:
        """The ids before this look; of several in partition statuses, one that differs from `found`."""
        if topic in self._known:
            return self._known[topic]
        told = self._told.pop(topic, [])
        differing = (origin for origin in told if origin.differs(found))
        return next(differing, told[0] if told else TopicIdPair())

    def _record(self, topic: str) -> LogsRecord:
        barrier = self._barriers.get(topic, _Barrier())
        return LogsRecord(
            connector=self._connector,
            topic=topic,
            origin=self._known[topic],
            syncs_id=barrier.syncs_id,
            syncs_from=barrier.syncs_from,
        )
