"""Translates the committed offsets of the source's groups, and writes them to the target as checkpoints.

    source groups ──committed──► changed? ──► translate ──► more recent? ──► checkpoints topic
                                                 ▲
                offset syncs (tail), ranges ─────┘

Only partitions whose committed offset or translation has changed are translated again. When a remote topic
was deleted and created again, the checkpoints of its old log are void: they are replaced, and groups that
were moved to them are moved back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from heliograph.client.admin.groups import committed_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.counted import counted
from heliograph.errors import BrokerError
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.offset_map import OffsetRange
from heliograph.model import CommittedOffset, GroupOffsets, TopicIdPair, TopicPartition
from heliograph.plan.checkpoints import (
    PlannedCheckpoints,
    changed,
    checkpoint_topic,
    no_longer_true,
    plan_checkpoints,
    why_none_followed,
)
from heliograph.plan.unmatched import unmatched_groups
from heliograph.sync.checkpoint_log import CheckpointLog, CheckpointsByGroup
from heliograph.sync.followed_groups import FollowedGroups, followed_groups
from heliograph.sync.group_offsets import log_ends, take_back_group_offsets
from heliograph.sync.logs import Recreated
from heliograph.sync.translation import FlowTranslation
from heliograph.sync.void_checkpoints import VoidCheckpoints

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """`untranslated` has, by group and source partition, why there is no checkpoint for an offset.

    `malformed` counts malformed records of the internal topics since the start. `inexact`: by group whose
    translation is not exact, how many records it may read again on the target, at most.
    """

    checkpoints: int
    groups: int
    malformed: int
    written: tuple[Checkpoint, ...]
    inexact: Mapping[str, int]
    untranslated: Mapping[str, Mapping[TopicPartition, str]]
    problems: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What `emit` would do now.

    `offsets` are the committed offsets of the followed groups, `before` the checkpoints in the topic by
    group and the target's partition, `emit` the checkpoints that would be written. `untranslated` as in
    `Emitted`.
    """

    groups: FollowedGroups
    offsets: GroupOffsets
    before: Mapping[str, Mapping[TopicPartition, Checkpoint]]
    emit: list[Checkpoint]
    untranslated: Mapping[str, Mapping[TopicPartition, str]]
    problems: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    offsets: GroupOffsets
    moved: GroupOffsets
    planned: Mapping[str, PlannedCheckpoints]
    emit: list[Checkpoint]
    from_start: list[Checkpoint]
    recreated: list[Recreated]
    problems: dict[str, str]


class CheckpointSync:
    """One flow's checkpoints, as `MirrorCheckpointTask`. For one thread; starts none. `offsets` is the
    cluster of stored offsets, if that is not the target."""

    def __init__(
        self,
        flow: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        offsets: ClusterClient | None = None,
    ) -> None:
        if flow.checkpoints is None:
            raise ValueError(f"flow {flow.name} has no checkpoints")
        self._flow = flow
        self._config = flow.checkpoints
        self._source = source
        self._target = target
        self._group_filter = flow.group_filter()
        self._topic_filter = flow.topic_filter()
        self._names: dict[str, str | None] = {}
        self._translation = FlowTranslation(flow, source, target, self.target_name)
        self._log = CheckpointLog(flow, self._config, target, offsets or target)
        self._ready = False
        self._followed: frozenset[str] | None = None
        self._offsets: GroupOffsets = {}  # of the followed groups, as last read
        self._previous: CheckpointsByGroup = {}
        self._void = VoidCheckpoints(flow.name)
        self._seen: dict[str, dict[TopicPartition, tuple[int, int]]] = {}
        self._untranslated: dict[str, dict[TopicPartition, str]] = {}
        #: Records that a group may read again, by source partition whose translation is not exact.
        self._behind: dict[str, dict[TopicPartition, int]] = {}

    def learn(
        self,
        partition: TopicPartition,
        ranges: Iterable[OffsetRange],
        origin: TopicIdPair | None = None,
    ) -> None:
        """Add the ranges that tasks have copied of a source partition since their last report."""
        self._translation.learn(partition, origin or TopicIdPair(), ranges)

    def checkpoints(self) -> Mapping[str, Mapping[TopicPartition, Checkpoint]]:
        """The newest checkpoint of every followed group, by the target's partition."""
        return {g: its for g in self._followed or () if (its := self._previous.get(g))}

    def topic_ids(self) -> dict[str, str | None]:
        """The ids of the remote topics that the checkpoints belong to."""
        translation = self._translation
        return {
            name: translation.target_id(topic)
            for topic in translation.topics
            if (name := self.target_name(topic)) is not None
        }

    def refresh_groups(self) -> FollowedGroups:
        """Read again which of the source's groups are to be followed."""
        found = followed_groups(self._source, self._group_filter, self.target_name, self._offsets)
        found = replace(found, unmatched=unmatched_groups(self._flow, found.present))
        followed = found.followed
        if followed != self._followed:
            log.info("flow %s: following %s", self._flow.name, counted(len(followed), "group"))
        self._followed = followed
        for forgotten in self._seen.keys() - followed:
            del self._seen[forgotten]
            self._untranslated.pop(forgotten, None)
            self._behind.pop(forgotten, None)
        return found

    def emit(self, now_ms: int) -> Emitted:
        """Write the checkpoints that are due. Raises ClientError if that fails; the next call retries."""
        problems = self._prepare(now_ms)
        if not self._ready:
            return self._emitted([], problems)
        if self._followed is None:
            problems |= self.refresh_groups().problems
        due = self._due()
        self._void.log_recreated(due.recreated)
        if self._void.by_group and self._config.sync_interval_seconds is not None:
            corrected = _by_group(due.emit)
            problems |= take_back_group_offsets(self._target, self._void.by_group, corrected)
        self._log.write(due.emit, self._previous, now_ms)
        self._remember(due)
        problems |= self._translation.keep_logs(now_ms)
        return self._emitted(
            due.emit, problems | due.problems | self._void.problems(self._followed or ())
        )

    def preview(self) -> Preview:
        """What `emit` would write; changes neither cluster. Use the object for nothing else; afterwards
        `checkpoints` returns those that would exist."""
        if (refused := self._refused()) is not None:
            return Preview(
                groups=FollowedGroups(followed=frozenset(), passed_over={}, problems={}),
                offsets={},
                before={},
                emit=[],
                untranslated={},
                problems={"cluster id": refused},
            )
        problems = self._read_before(None)
        before = {group: dict(its) for group, its in self._previous.items()}
        groups = self.refresh_groups()
        due = self._due()
        self._remember(due)
        return Preview(
            groups=groups,
            offsets=due.offsets,
            before=before,
            emit=due.emit,
            untranslated=self._untranslated,
            problems=problems
            | groups.problems
            | due.problems
            | self._void.problems(self._followed or ()),
        )

    # ── translating ──────────────────────────────────────────────────────────────────────────

    def _due(self) -> _Due:
        offsets, failed = committed_offsets(self._source, self._followed or ())
        self._offsets = offsets
        problems = {group: str(error) for group, error in failed.items()}
        problems |= self._translation.refresh(self._topics_of(offsets))
        recreated = self._translation.take_recreated()
        self._void.find(recreated, self._previous)
        moved = {
            group: its
            for group, all_its in offsets.items()
            if (its := changed(all_its, self._seen.get(group, {}), self._translation.versions))
        }
        planned = {group: self._plan(group, its) for group, its in moved.items()}
        emit = [c for plan in planned.values() for c in plan.emit]
        emit += self._corrections(c for plan in planned.values() for c in plan.held_back)
        from_start = self._void.from_start(planned)
        return _Due(
            offsets=offsets,
            moved=moved,
            planned=planned,
            emit=emit + from_start,
            from_start=from_start,
            recreated=recreated,
            problems=problems,
        )

    def _topics_of(self, offsets: GroupOffsets) -> dict[str, str]:
        """Source topics with committed offsets or checkpoints, and their remote topics."""
        topics = {partition.topic for its in offsets.values() for partition in its}
        names = {t: name for t in topics if (name := self.target_name(t)) is not None}
        about = {partition.topic for its in self._previous.values() for partition in its}
        known = self._translation.topics - names.keys() if about.difference(names.values()) else ()
        return names | {t: name for t in known if (name := self.target_name(t)) in about and name}

    def _plan(
        self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> PlannedCheckpoints:
        return plan_checkpoints(
            group,
            offsets,
            self._previous.get(group, {}),
            self._translation,
            self.target_name,
            self._void.by_group.get(group, {}),
        )

    def _corrections(self, held_back: Iterable[Checkpoint]) -> list[Checkpoint]:
        """Checkpoints that do move back, because the target's log did."""
        candidates = list(held_back)
        ends = log_ends(self._target, {c.topic_partition for c in candidates})
        corrected = []
        for checkpoint in candidates:
            before = self._previous[checkpoint.group]
            corrected += no_longer_true([checkpoint], before, ends)
        return corrected

    def target_name(self, topic: str) -> str | None:
        """The name of a topic on the target; None if the topic filter excludes it."""
        if topic not in self._names:
            flow = self._flow
            accepted = self._topic_filter.accepts(topic)
            name = checkpoint_topic(flow.policy, flow.source, flow.target, topic)
            self._names[topic] = name if accepted else None
        return self._names[topic]

    def _remember(self, due: _Due) -> None:
        versions = self._translation.versions
        for group, its in due.moved.items():
            seen = self._seen.setdefault(group, {})
            untranslated = self._untranslated.setdefault(group, {})
            for partition, committed in its.items():
                seen[partition] = (committed.offset, versions.get(partition, 0))
                untranslated.pop(partition, None)
                self._note_behind(group, partition, committed.offset)
            untranslated |= due.planned[group].untranslated
        for checkpoint in due.emit:
            self._previous.setdefault(checkpoint.group, {})[checkpoint.topic_partition] = checkpoint
        self._void.replaced(due.emit, due.from_start)

    def _note_behind(self, group: str, partition: TopicPartition, offset: int) -> None:
        followed = self.target_name(partition.topic) is not None
        behind = self._translation.behind(partition, offset) if followed and offset >= 0 else 0
        its = self._behind.setdefault(group, {})
        if behind:
            its[partition] = behind
        else:
            its.pop(partition, None)

    # ── the target's topics ──────────────────────────────────────────────────────────────────

    def _prepare(self, now_ms: int) -> dict[str, str]:
        if self._ready:
            return {}
        problem = self._log.ensure()
        if problem is not None:
            return {self._log.topic.name: problem}
        if (refused := self._refused()) is not None:
            return {"cluster id": refused}
        problems = self._read_before(now_ms)
        self._ready = True
        return problems

    def _refused(self) -> str | None:
        """Why no checkpoints are written at all; None: they are."""
        if self._flow.accepts_same_cluster_id:
            return None
        source, target = (
            client.metadata.cluster_id or client.refresh([]).cluster_id
            for client in (self._source, self._target)
        )
        return why_none_followed(self._flow.source, source, self._flow.target, target)

    def _read_before(self, now_ms: int | None) -> dict[str, str]:
        """Read the checkpoints topic and the stored offset maps, once. With `now_ms` the latter may be
        rewritten in fewer records; None: neither cluster is changed."""
        topic, problems = self._log.topic, {}
        try:
            self._previous = self._log.load()
        except BrokerError as e:
            if e.retriable:
                raise
            # As MM2 (KAFKA-15905): without the old checkpoints to compare with, no older sync may be used, or
            # checkpoints might move back.
            problems[topic.name] = (
                f"{e}; continuing without the earlier checkpoints, with less precise translation"
            )
            log.warning("flow %s: %s", self._flow.name, problems[topic.name])
        return problems | self._translation.load(now_ms, must_read_to_end=bool(problems))

    def _emitted(self, checkpoints: list[Checkpoint], problems: dict[str, str]) -> Emitted:
        return Emitted(
            checkpoints=len(checkpoints),
            written=tuple(checkpoints),
            inexact={group: sum(its.values()) for group, its in self._behind.items() if its},
            groups=len(self._followed or ()),
            malformed=self._log.malformed + self._translation.malformed,
            untranslated=self._untranslated,
            problems=problems,
        )


def _by_group(checkpoints: Iterable[Checkpoint]) -> CheckpointsByGroup:
    found: CheckpointsByGroup = {}
    for checkpoint in checkpoints:
        found.setdefault(checkpoint.group, {})[checkpoint.topic_partition] = checkpoint
    return found
