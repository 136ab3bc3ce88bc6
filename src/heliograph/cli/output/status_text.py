"""Formats the status of a mirror as lines and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from heliograph.cli.output.plan_text import gathered
from heliograph.cli.output.tables import Block, Table, by_reason, limited
from heliograph.counted import counted
from heliograph.inspection.mirror_status import (
    FlowView,
    GapView,
    GroupPartition,
    MirrorStatus,
    PartitionView,
    PositionFrom,
    ServiceState,
)
from heliograph.inspection.status_rules import in_words
from heliograph.model import PartitionState

T = TypeVar("T")

#: Up to this many partitions, or offsets of groups, are shown one by one.
_ROWS = 50
_NAMES = 5
_REMEDY = "--partitions shows each partition"
_MEMBERS = {"JAVA": "a Java MirrorMaker 2 or Connect worker"}
_GOOD = frozenset({PartitionState.RUNNING, PartitionState.DONE})


def status_blocks(status: MirrorStatus, *, everything: bool) -> list[Block]:
    blocks: list[Block] = []
    for alias, reason in status.unreachable.items():
        blocks.append(f"NOT REACHED: {alias}: {reason}")
    for name, why in status.broken.items():
        blocks.append(f"FAILED: connector {name}: {why}")
    for name, why in status.idle.items():
        blocks.append(f"connector {name} does not run: {why}")
    for flow in status.flows:
        blocks += [*([""] if blocks else []), *_flow(flow, everything)]
    return blocks or ["no flow is enabled; no records are mirrored"]


def _flow(flow: FlowView, everything: bool) -> Iterator[Block]:
    yield f"flow {flow.name}: {service(flow)}"
    for member in flow.members:
        yield f"  service at {member.process}: {_MEMBERS.get(member.state, member.state)}"
    for why, parts in gathered(flow.unknown.items()):
        yield f"  NOT CHECKED: {', '.join(parts)}: {why}"
    for sentence, subjects in gathered(flow.problems.items()):
        yield f"  PROBLEM: {_with_subjects(flow.name, sentence, subjects)}"
    for sentence, _ in gathered(flow.not_mirrored.items()):
        if sentence not in flow.problems.values():
            yield f"  PROBLEM: {sentence}"
    each = everything or len(flow.partitions) <= _ROWS
    if flow.partitions:
        yield _partitions(flow) if each else _topics(flow)
    if flow.gaps:
        yield _gaps(flow, everything)
    if flow.groups:
        single = everything or len(flow.groups) <= _ROWS
        yield _group_offsets(flow) if single else _groups(flow)
    if flow.not_followed:
        yield limited(
            f"groups not followed: {len(flow.not_followed):,}",
            ("groups", "why", "which"),
            by_reason(flow.not_followed, names=None if everything else _NAMES),
            most=None if everything else _ROWS,
            remedy=_REMEDY,
        )


def service(flow: FlowView) -> str:
    state, detail = flow.service.state, flow.service.detail
    failed = sum(partition.failed for partition in flow.partitions)
    words = f"{state.lower() if state is ServiceState.UNKNOWN else state} ({detail})"
    if any(partition.throttled for partition in flow.partitions):
        words += ", throttled (throttle.bytes.per.second)"
    restarts = flow.service.restarts
    if restarts:
        words += f", copy restarted {counted(restarts, 'time')}"
    return f"{words}, {counted(failed, 'partition')} FAILED" if failed else words


def _with_subjects(flow: str, sentence: str, subjects: Sequence[str]) -> str:
    """The flow's name stands above. A sentence that begins with its subject is not given it again."""
    places = [each.removeprefix(f"flow {flow}: ") for each in subjects]
    if len(places) == 1:
        area, _, subject = places[0].rpartition(": ")
        if sentence.startswith(subject):
            places = [area] if area else []
    return ": ".join([", ".join(places), sentence]) if places else sentence


def _partitions(flow: FlowView) -> Table:
    stored = any(p.position_from is PositionFrom.CONNECT for p in flow.partitions)
    mark = ""
    if stored and flow.service.state is ServiceState.UNKNOWN:
        mark = "; lag is counted from stored offsets, which a mirror stores from time to time"
    return Table(
        f"partitions, {flow.source} -> {flow.target}{mark}",
        (
            *("topic", "partition", "source start", "source end", "target end", "position"),
            *("lag", "lag time", "last copy", "state", "error"),
        ),
        [
            (
                p.topic,
                str(p.partition),
                *map(_number, (p.source_start, p.source_end, p.target_end, p.position)),
                _number(p.lag_records),
                _time(p.lag_seconds),
                _time(p.copied_seconds_ago),
                p.state,
                p.error or "-",
            )
            for p in flow.partitions
        ],
        optional=("source start", "target end", "last copy", "position", "source end"),
    )


def _gaps(flow: FlowView, everything: bool) -> Table:
    """The newest gap first."""
    total = sum(gap.gaps for gap in flow.gaps)
    lost = sum(gap.unmirrored for gap in flow.gaps)
    return limited(
        f"gaps: {total:,}, {lost:,} source offsets not mirrored",
        ("topic", "partition", "gaps", "not mirrored", "last", "kind", "what", "then"),
        [
            (
                gap.topic,
                str(gap.partition),
                str(gap.gaps),
                str(gap.unmirrored),
                f"{in_words(gap.seconds_ago)} ago",
                gap.kind,
                gap.what,
                _then(gap),
            )
            for gap in sorted(flow.gaps, key=lambda each: each.seconds_ago)
        ],
        most=None if everything else _ROWS,
        remedy=_REMEDY,
    )


def _then(gap: GapView) -> str:
    if gap.waits:
        return "FAILED until another offset is stored"
    return "-" if gap.resumed is None else f"resumed at {gap.resumed}"


def _topics(flow: FlowView) -> Table:
    """A row per topic: those with errors first, then by lag."""
    rows = [_topic(topic, its) for topic, its in _by(flow.partitions, lambda p: p.topic)]
    rows.sort(key=lambda row: row[0])
    return limited(
        f"topics, {flow.source} -> {flow.target} ({_REMEDY})",
        ("topic", "partitions", "lag", "lag time", "last copy", "states", "error"),
        [cells for _, cells in rows],
        most=_ROWS,
        remedy=_REMEDY,
    )


def _topic(
    topic: str, partitions: Sequence[PartitionView]
) -> tuple[tuple[bool, int, str], tuple[str, ...]]:
    lag = _sum(p.lag_records for p in partitions)
    troubled = [p for p in partitions if p.state not in _GOOD and p.error is not None]
    error = f"{troubled[0].partition}: {troubled[0].error}" if troubled else "-"
    states = by_reason({str(p.partition): p.state for p in partitions}, names=0)
    cells = (
        topic,
        f"{len(partitions):,}",
        _number(lag),
        _time(_most(p.lag_seconds for p in partitions)),
        _time(_least(p.copied_seconds_ago for p in partitions)),
        ", ".join(f"{count} {state}" for count, state, _ in states),
        error,
    )
    return (not troubled, -(lag or 0), topic), cells


def _group_offsets(flow: FlowView) -> Table:
    return Table(
        "groups",
        (
            *("group", "topic", "partition", f"on {flow.source}", "lag"),
            *("translated", f"on {flow.target}", "lag there", "state", "why"),
        ),
        [
            (
                g.group,
                g.topic,
                str(g.partition),
                *map(_number, (g.source_offset, g.source_lag, g.translated)),
                *map(_number, (g.target_offset, g.target_lag)),
                g.state,
                g.why or "-",
            )
            for g in flow.groups
        ],
        optional=("lag there", "translated", "lag", f"on {flow.source}", "why"),
    )


def _groups(flow: FlowView) -> Table:
    return limited(
        f"groups ({_REMEDY})",
        ("group", "partitions", f"lag on {flow.source}", f"lag on {flow.target}", "states", "why"),
        (_group(group, its) for group, its in _by(flow.groups, lambda g: g.group)),
        most=_ROWS,
        remedy=_REMEDY,
    )


def _group(group: str, offsets: Sequence[GroupPartition]) -> tuple[str, ...]:
    states = by_reason({f"{g.topic}-{g.partition}": g.state for g in offsets}, names=0)
    reasons = {g.why: None for g in offsets if g.why}
    return (
        group,
        f"{len(offsets):,}",
        _number(_sum(g.source_lag for g in offsets)),
        _number(_sum(g.target_lag for g in offsets)),
        ", ".join(f"{count} {state}" for count, state, _ in states),
        "; ".join(reasons) or "-",
    )


def _by(values: Iterable[T], key: Callable[[T], str]) -> list[tuple[str, list[T]]]:
    found: dict[str, list[T]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return list(found.items())


def _sum(numbers: Iterable[int | None]) -> int | None:
    """The sum of the known numbers; None if all are unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _most(numbers: Iterable[float | None]) -> float | None:
    return max((number for number in numbers if number is not None), default=None)


def _least(numbers: Iterable[float | None]) -> float | None:
    return min((number for number in numbers if number is not None), default=None)


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return "0" if seconds == 0 else in_words(seconds)
