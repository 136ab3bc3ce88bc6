"""Decides whether a partition can continue at its position, by what was known of both logs and what is found.

    known   position, the epoch of a record copied, ids of both topics
    found   the source's start, its end, where that epoch ends in it; ids of both topics

    start              epoch end          position               end
      │ …common history… │ …diverged…        │                      │

A Java consumer, and so MM2, continues in every case, and logs only a position below the log start (at INFO).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.model import (
    Gap,
    GapKind,
    GapPolicies,
    GapPolicy,
    LeaderEpochMark,
    LogBounds,
    LossPolicy,
    OffsetReset,
    TopicIdPair,
)

#: OffsetForLeaderEpoch returns this if the leader has neither that epoch nor an older one.
UNKNOWN_EPOCH = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a mirror has stored about a partition. `source_end` is the last one seen, -1: none."""

    position: int
    source_end: int = -1
    mark: LeaderEpochMark | None = None
    origin: TopicIdPair = field(default_factory=TopicIdPair)


class Topic(NamedTuple):
    there: bool = True
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Both topics and the source's log, as brokers describe them now; `log` None: not asked for."""

    source: Topic = field(default_factory=Topic)
    remote: Topic = field(default_factory=Topic)
    log: LogBounds | None = None

    def origin(self) -> TopicIdPair:
        return TopicIdPair(self.source.id, self.remote.id)


class Verdict(NamedTuple):
    """`position`: where the copy continues; None: not until a user decides. `doubt` is why records from there
    on may be on the target already."""

    position: int | None
    gaps: tuple[Gap, ...] = ()
    doubt: str | None = None


def judge(known: Known, found: Found, reset: OffsetReset) -> Verdict:
    """Law: without a gap the position stays; if the position stays, any gap is on the target's side.

    A lost position is reset by `auto.offset.reset`, as for every consumer; but a log that has diverged is
    copied from the point of divergence (KIP-320).
    """
    if not found.source.there:
        return _source_deleted(known)
    position: int | None = known.position
    gaps: list[Gap] = []
    if differs(known.origin.source, found.source.id):
        position = _reset(found.log, reset)
        gaps += _recreated(known, position)
    else:
        position, gaps = _judge_log(known, found, reset)
    return Verdict(position, (*gaps, *_judge_remote(known, found, position)))


def departure(known: Known, found: Found) -> int | None:
    """The offset where the source's log diverges from the one that was read; None: it does not, as far as is
    known."""
    mark, log = known.mark, found.log
    if mark is None or log is None or log.epoch_end is None or log.epoch_end < 0:
        return None
    end = log.epoch_end
    # Records that were read under epochs that this leader lacks are not in its log (KIP-279).
    if log.epoch >= 0:
        end = min([end, *(start for epoch, start in mark.starts if epoch > log.epoch)])
    return end if end < mark.offset else None


def mark_after(known: Known, found: Found, verdict: Verdict) -> LeaderEpochMark | None:
    """The leader epoch mark from now on. It is kept when the position moves: without it, another truncation
    before the next record is read would not be noticed."""
    if known.mark is None or (found.log is not None and found.log.epoch_end == UNKNOWN_EPOCH):
        return None
    if any(gap.kind in (GapKind.PAST_END, GapKind.SOURCE_RECREATED) for gap in verdict.gaps):
        return None
    departs = departure(known, found)
    return known.mark if departs is None else known.mark.cut(departs)


def differs(known: str | None, found: str | None) -> bool:
    """Whether a topic was created again; False if an id is not known."""
    return known is not None and found is not None and known != found


def fails(verdict: Verdict, policies: GapPolicies) -> bool:
    """Whether the partition stops until a user decides; not for a deleted source topic."""
    if any(policies.fails(gap.kind) for gap in verdict.gaps):
        return True
    if not verdict.gaps:
        return False
    gone = any(gap.kind is GapKind.SOURCE_DELETED for gap in verdict.gaps)
    return verdict.position is None and not gone


def _source_deleted(known: Known) -> Verdict:
    if known.position <= 0 and known.source_end <= 0:
        return Verdict(None)  # it never had a record
    end = max(known.source_end, known.position)
    return Verdict(None, (Gap(GapKind.SOURCE_DELETED, known.position, end, -1),))


def _recreated(known: Known, position: int | None) -> Iterator[Gap]:
    if known.position > 0 or known.source_end > 0:
        end = max(known.source_end, known.position)
        yield Gap(GapKind.SOURCE_RECREATED, known.position, end, _resumed(position))


def _judge_log(known: Known, found: Found, reset: OffsetReset) -> tuple[int | None, list[Gap]]:
    position, log, gaps = known.position, found.log, list[Gap]()
    if log is None:
        return position, gaps
    course = log.epoch_end if known.mark is not None else None
    if course == UNKNOWN_EPOCH:
        lost = _reset(log, reset)
        return lost, [_gap(GapKind.TRUNCATED, min(log.start, position), position, lost)]
    departs = departure(known, found)
    if departs is not None and departs < position:
        first = 0 if _is_forgotten(known.mark, log) else departs
        gaps.append(_gap(GapKind.TRUNCATED, first, position, departs))
        position = departs
    # A leader may have all that was read and not let it be read yet: its high watermark lags behind after an
    # election. Only a position that was not read from this log is past its end.
    read = known.mark is not None and course is not None and position <= known.mark.offset
    if position > log.end and not read:
        lost = _reset(log, reset)
        return lost, [*gaps, _gap(GapKind.PAST_END, log.end, position, lost)]
    if position < log.start:
        lost = _reset(log, reset)
        end = log.start if lost is None else lost
        if not gaps and _is_forgotten(known.mark, log):
            gaps.append(_gap(GapKind.TRUNCATED, 0, position, lost))
        return lost, [*gaps, _gap(GapKind.OVERTAKEN, position, end, lost)]
    return position, gaps


def _is_forgotten(mark: LeaderEpochMark | None, log: LogBounds) -> bool:
    """Whether the source has deleted the part of its log where the mark's epoch ended. Kafka lets the oldest
    epoch that is left begin at the log start: a leader that knows no older one answers with the log start.
    Under the mark's own epoch a leader has truncated nothing."""
    led_by_mark = mark is None or mark.epoch == log.leader_epoch
    return not led_by_mark and log.epoch_end == log.start


def _judge_remote(known: Known, found: Found, position: int | None) -> Iterator[Gap]:
    """Gaps of mirrored records that are gone with their remote topic."""
    if known.position <= 0 or known.origin.target is None:
        return
    if not found.remote.there:
        yield _gap(GapKind.REMOTE_DELETED, 0, known.position, position)
    elif differs(known.origin.target, found.remote.id):
        yield _gap(GapKind.REMOTE_RECREATED, 0, known.position, position)


def _reset(log: LogBounds | None, reset: OffsetReset) -> int | None:
    if log is None or reset is OffsetReset.NONE:
        return None
    return log.start if reset is OffsetReset.EARLIEST else log.end


def _gap(kind: GapKind, first: int, end: int, resumed: int | None) -> Gap:
    return Gap(kind, first, end, _resumed(resumed))


def _resumed(position: int | None) -> int:
    return -1 if position is None else position


def describe(gap: Gap) -> str:
    """What has happened, and to which offsets, for logs and status."""
    first, end = gap.first, gap.end
    span = f"source offsets {first} to {end - 1}" if end > first else "no source offset"
    tail = f"{span} were not mirrored" if end > first else "all known records are mirrored"
    return {
        GapKind.OVERTAKEN: f"{span} are skipped: the source deleted them before they were mirrored "
        "(retention, or DeleteRecords)",
        GapKind.TRUNCATED: _truncated(gap, span),
        GapKind.PAST_END: f"offset {end} is past the source's end {first} (truncated, or created again)",
        GapKind.SOURCE_DELETED: "the source topic does not exist (deleted, or not authorized); "
        + tail,
        GapKind.SOURCE_RECREATED: "the source topic was deleted and created again; of the old one, "
        + tail,
        GapKind.REMOTE_DELETED: f"the remote topic was deleted: records of {span} are not on the target "
        "any more",
        GapKind.REMOTE_RECREATED: f"the remote topic was deleted and created again: records of {span} are "
        "not on the target any more",
        GapKind.TARGET_LOST: "the target has lost acknowledged records (an unclean leader election, or a "
        f"restored backup): {_lost(gap, span)}",
    }[gap.kind]


def _truncated(gap: Gap, span: str) -> str:
    if gap.resumed > gap.first:
        return (
            "the source has deleted the part of its log that would show whether it has diverged before "
            f"offset {gap.end} (truncated, or an unclean leader election): {span} were mirrored; records "
            f"that have replaced some of them since are not mirrored if they were before offset {gap.resumed}"
        )
    return (
        f"the source's log has diverged at offset {gap.first} (truncated, or an unclean leader election): "
        f"{span} were mirrored, and are not in it any more"
    )


def _lost(gap: Gap, span: str) -> str:
    if gap.end <= gap.first:
        return "none of those that are mirrored now"
    if gap.resumed >= gap.end:
        return f"which of {span} they were is not known"
    return f"{span} are not on it any more"


def outcome(gap: Gap, policies: GapPolicies) -> str:
    """What happens to the partition now, for logs and status."""
    if policies.fails(gap.kind):
        name, other = (
            ("target.log.loss.policy", LossPolicy.RECOPY)
            if gap.kind is GapKind.TARGET_LOST
            else ("source.log.gap.policy", GapPolicy.CONTINUE)
        )
        return (
            f"its copy stops ({name}=fail) until another offset is stored for it, or the policy is set "
            f"to {other}"
        )
    if gap.kind is GapKind.TARGET_LOST:
        return _outcome_of_loss(gap)
    if gap.kind is GapKind.SOURCE_DELETED:
        return "its remote topic is kept"
    if gap.resumed < 0:
        return "auto.offset.reset=none forbids a reset; store another offset for it"
    return f"continuing at offset {gap.resumed}"


def _outcome_of_loss(gap: Gap) -> str:
    if gap.resumed < gap.end:
        return f"copying them again from source offset {gap.resumed}"
    return (
        f"the offset map does not contain their source offsets, so they are not copied again: continuing at "
        f"offset {gap.resumed}; to copy them again, store an earlier offset"
    )
