"""Derives the status of a partition, a group or a service from observed offsets and states. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heliograph.inspection.mirror_status import (
    GapView,
    GroupPartition,
    GroupState,
    Member,
    PartitionView,
    PositionFrom,
    Service,
    ServiceState,
)
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.state_records import PAUSED, STOPPED, FlowStatus, GapRecord, PartitionStatus
from heliograph.model import CommittedOffset, OffsetReset, PartitionState, TopicPartition
from heliograph.plan.gap_verdict import describe

#: A service writes its state at least every 10 s.
SILENT_MS = 30_000
#: The state of a partition that a running service has not reported yet.
WAITING = "WAITING"
#: States of a partition that is being mirrored: the end that its service reported belongs to the position.
_COPYING = frozenset({PartitionState.RUNNING, PartitionState.DONE})


def service_status(
    status: FlowStatus | None,
    now_ms: int,
    without: str | None = None,
    *,
    members: Sequence[Member] = (),
) -> Service:
    """`without`: why there is no status, if it is known. `members` of the flow's group: without any, its
    connector cannot be resumed."""
    if status is None:
        return Service(
            state=ServiceState.UNKNOWN,
            detail=without or "no Heliograph state",
            seen_seconds_ago=None,
        )
    age = max(now_ms - status.at_ms, 0) / 1000
    if status.state == PAUSED and members:
        state, detail = ServiceState.PAUSED, f"for {in_words(age)}; resume its connector to go on"
    elif status.state in (PAUSED, STOPPED):
        state, detail = ServiceState.NOT_RUNNING, f"stopped {in_words(age)} ago"
    elif now_ms - status.at_ms > SILENT_MS:
        state, detail = ServiceState.NOT_RUNNING, f"last seen {in_words(age)} ago"
    else:
        state, detail = ServiceState.RUNNING, f"seen {in_words(age)} ago"
    return Service(state=state, detail=detail, seen_seconds_ago=age, restarts=status.restarts)


def why_no_state(topic: str, target: str, group: str, members: Sequence[Member]) -> str | None:
    """Why a flow that a Heliograph runs has no state, for a missing state topic; None: none runs it."""
    if not any(member.state == "RUNNING" for member in members):
        return None
    return (
        f"a Heliograph leads the group {group}, but cannot report: {topic} does not exist on {target}, or "
        f"may not be described; create {topic} with 1 partition and cleanup.policy=compact, or grant CREATE "
        "on it to the mirror and DESCRIBE and READ to this login"
    )


def worker_status(group: str, members: Sequence[Member]) -> Service:
    """Derived from the group of its workers only."""
    if any(member.state == "RUNNING" for member in members):
        return Service(
            state=ServiceState.RUNNING, detail=f"in the group {group}", seen_seconds_ago=0.0
        )
    state = ServiceState.UNKNOWN if members else ServiceState.NOT_RUNNING
    return Service(
        state=state, detail=f"no Heliograph leads the group {group}", seen_seconds_ago=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPartition:
    """What was observed of a source partition; None means unknown.

    `stored` is the offset in Connect's offsets topic, `status` the last state that a service wrote.
    """

    partition: TopicPartition
    remote_topic: str
    source_start: int | None
    source_end: int | None
    target_end: int | None
    stored: int | None
    status: PartitionStatus | None


def resume_position(
    seen: ObservedPartition, service: Service, reset: OffsetReset
) -> tuple[int | None, PositionFrom | None]:
    """A running service's own position takes precedence. The position of one that has stopped is ignored:
    another mirror may have taken over, and the next service starts from the stored offset.

    Without any state, a remote partition with records was mirrored up to an offset that is not stored yet:
    the position is unknown. So it is in the first seconds of a service that has not reported it yet."""
    running = service.state is ServiceState.RUNNING
    if running and seen.status is not None and seen.status.position >= 0:
        return seen.status.position, PositionFrom.HELIOGRAPH
    if seen.stored is not None:
        return seen.stored, PositionFrom.CONNECT
    ended = service.state in (ServiceState.NOT_RUNNING, ServiceState.PAUSED)
    mirrored = not ended and bool(seen.target_end)
    if reset is OffsetReset.EARLIEST and seen.source_start is not None and not mirrored:
        return seen.source_start, PositionFrom.RESET
    return None, None


def end_of(seen: ObservedPartition, known_from: PositionFrom | None) -> int | None:
    """The source's end that belongs to the position. A position that a running service reported may be some
    seconds old: against the current end, records that came since would count as lag. A partition that is not
    being copied has the current end: its service may not know of newer records."""
    status = seen.status
    if (
        known_from is PositionFrom.HELIOGRAPH
        and status is not None
        and status.state in _COPYING
        and status.source_end >= 0
        and seen.source_end is not None
    ):
        return min(max(status.source_end, status.position), seen.source_end)
    return seen.source_end


def lag_in_records(
    seen: ObservedPartition, position: int | None, known_from: PositionFrom | None
) -> int | None:
    """Offsets still to be mirrored, without those that retention has deleted; 0 for a position past the end,
    where `auto.offset.reset` will apply."""
    end = end_of(seen, known_from)
    if position is None or end is None:
        return None
    return max(end - max(position, seen.source_start or 0), 0)


def partition_view(
    seen: ObservedPartition,
    service: Service,
    reset: OffsetReset,
    waiting_since_ms: int | None,
    now_ms: int,
) -> PartitionView:
    """`waiting_since_ms`: the timestamp of the first record at or after the position."""
    position, known_from = resume_position(seen, service, reset)
    lag, status = lag_in_records(seen, position, known_from), seen.status
    seconds = 0.0 if lag == 0 else None
    if lag and waiting_since_ms is not None:
        seconds = max(now_ms - waiting_since_ms, 0) / 1000
    copied = status.copied_ms if status is not None else -1
    return PartitionView(
        topic=seen.partition.topic,
        partition=seen.partition.partition,
        remote_topic=seen.remote_topic,
        source_start=seen.source_start,
        source_end=end_of(seen, known_from),
        target_end=seen.target_end,
        position=position,
        position_from=known_from,
        lag_records=lag,
        lag_seconds=seconds,
        copied_seconds_ago=max(now_ms - copied, 0) / 1000 if copied >= 0 else None,
        state=_partition_state(service, status),
        error=status.error if status is not None else None,
        throttled=status is not None and status.throttled and service.state is ServiceState.RUNNING,
    )


def _partition_state(service: Service, status: PartitionStatus | None) -> str:
    if service.state is not ServiceState.RUNNING:
        return service.state
    return WAITING if status is None else status.state


def with_news(reported: Mapping[str, str], observed: Mapping[str, str]) -> dict[str, str]:
    """The problems that a service has reported, and those observed now that it has not."""
    known = set(reported.values())
    news = {subject: sentence for subject, sentence in observed.items() if sentence not in known}
    return {**reported, **news}


def gap_view(record: GapRecord, now_ms: int) -> GapView:
    last = record.last
    return GapView(
        topic=record.topic,
        partition=record.partition,
        gaps=record.gaps,
        unmirrored=record.unmirrored,
        kind=last.kind,
        first=last.first,
        end=last.end,
        resumed=last.resumed if last.resumed >= 0 else None,
        seconds_ago=max(now_ms - last.at_ms, 0) / 1000,
        what=describe(last),
        waits=record.failure is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedGroup:
    """What was observed of a group's offset in one source partition. `left_alone`: why the group's offset on
    the target is not changed; `untranslated`: why there is no checkpoint."""

    group: str
    partition: TopicPartition
    remote: TopicPartition
    source: CommittedOffset
    source_end: int | None
    checkpoint: Checkpoint | None
    target: CommittedOffset | None
    target_end: int | None
    left_alone: str | None
    untranslated: str | None


def group_partition(seen: ObservedGroup, *, synced: bool) -> GroupPartition:
    """`synced`: the flow commits offsets of groups on the target (`sync.group.offsets.enabled`)."""
    checkpoint = seen.checkpoint
    there = seen.target.offset if seen.target is not None and seen.target.offset >= 0 else None
    state, why = _group_state(seen, there, synced)
    return GroupPartition(
        group=seen.group,
        topic=seen.partition.topic,
        partition=seen.partition.partition,
        remote_topic=seen.remote.topic,
        source_offset=seen.source.offset,
        source_lag=_behind(seen.source.offset, seen.source_end),
        checkpointed=checkpoint.upstream if checkpoint is not None else None,
        translated=checkpoint.downstream if checkpoint is not None else None,
        target_offset=there,
        target_lag=_behind(there, seen.target_end),
        state=state,
        why=why,
    )


def _group_state(
    seen: ObservedGroup, there: int | None, synced: bool
) -> tuple[GroupState, str | None]:
    if seen.checkpoint is None:
        return GroupState.NOT_TRANSLATED, seen.untranslated or "its checkpoint is not written yet"
    wanted = seen.checkpoint.downstream
    if there is not None and there >= wanted:
        return GroupState.SYNCED, None
    if not synced:
        return GroupState.TRANSLATED, "sync.group.offsets.enabled is false"
    if seen.left_alone is not None:
        return GroupState.LEFT_ALONE, seen.left_alone
    if seen.target_end is None:
        return GroupState.DUE, "the target has no such partition"
    if wanted > seen.target_end:
        return GroupState.DUE, f"{wanted} is past the target's log end {seen.target_end}"
    return GroupState.DUE, "to be committed on the target"


def _behind(offset: int | None, end: int | None) -> int | None:
    return None if offset is None or offset < 0 or end is None else max(end - offset, 0)


def in_words(seconds: float) -> str:
    """Rounded to a unit that is easy to read."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
