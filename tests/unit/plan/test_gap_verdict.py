"""Whether a partition can continue at its position, by what was known and what is found."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

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
from heliograph.plan.gap_verdict import (
    UNKNOWN_EPOCH,
    Found,
    Known,
    Topic,
    Verdict,
    departure,
    describe,
    fails,
    judge,
    mark_after,
    outcome,
)

EARLIEST, LATEST, NONE = OffsetReset.EARLIEST, OffsetReset.LATEST, OffsetReset.NONE
KNOWN = Known(
    position=50, source_end=60, mark=LeaderEpochMark(50, 3), origin=TopicIdPair("s1", "t1")
)
LOG = LogBounds(start=10, end=90, epoch_end=70)
FOUND = Found(source=Topic(True, "s1"), remote=Topic(True, "t1"), log=LOG)
CONTINUE, FAIL = GapPolicies(), GapPolicies(GapPolicy.FAIL, LossPolicy.FAIL)
NEW_SOURCE, NEW_REMOTE = Topic(True, "s2"), Topic(True, "t2")
GONE = Topic(False)


def log_with(**bounds: int | None) -> Found:
    return replace(FOUND, log=LOG._replace(**bounds))  # type: ignore[arg-type]


def kinds(verdict: Verdict) -> list[GapKind]:
    return [gap.kind for gap in verdict.gaps]


@pytest.mark.parametrize(
    "found",
    [
        FOUND,
        log_with(end=50, epoch_end=50),  # caught up
        log_with(start=50),  # retention is right behind
        log_with(epoch_end=None),  # not asked
        replace(FOUND, source=Topic(True), remote=Topic(True)),  # brokers without topic ids
        Found(),
    ],
)
@pytest.mark.parametrize("reset", OffsetReset)
def test_a_log_that_goes_on_has_no_gap(found: Found, reset: OffsetReset) -> None:
    assert judge(KNOWN, found, reset) == Verdict(50)


@pytest.mark.parametrize(
    ("reset", "position", "gap"),
    [
        (EARLIEST, 55, Gap(GapKind.OVERTAKEN, 50, 55, 55)),
        (LATEST, 90, Gap(GapKind.OVERTAKEN, 50, 90, 90)),
        (NONE, None, Gap(GapKind.OVERTAKEN, 50, 55, -1)),
    ],
)
def test_records_deleted_before_they_were_mirrored(
    reset: OffsetReset, position: int | None, gap: Gap
) -> None:
    assert judge(KNOWN, log_with(start=55), reset) == Verdict(position, (gap,))
    assert gap.unmirrored == gap.end - 50


@pytest.mark.parametrize(("reset", "position"), [(EARLIEST, 10), (LATEST, 40), (NONE, None)])
def test_a_position_past_the_end_starts_over(reset: OffsetReset, position: int | None) -> None:
    known = replace(KNOWN, mark=None)

    verdict = judge(known, log_with(end=40, epoch_end=None), reset)

    resumed = -1 if position is None else position
    assert verdict == Verdict(position, (Gap(GapKind.PAST_END, 40, 50, resumed),))


@pytest.mark.parametrize("reset", OffsetReset)
@pytest.mark.parametrize("end", [0, 10, 49])
def test_a_leader_that_has_what_was_read_and_does_not_show_it_yet_has_no_gap(
    reset: OffsetReset, end: int
) -> None:
    """The high watermark of a leader that has just been elected lags behind."""
    assert judge(KNOWN, log_with(end=end, epoch_end=50), reset) == Verdict(50)
    assert judge(KNOWN, log_with(end=end, epoch_end=70), reset) == Verdict(50)


def test_a_position_past_the_end_that_nobody_has_read_of_this_log_starts_over() -> None:
    """Somebody has stored it."""
    older = replace(KNOWN, mark=LeaderEpochMark(30, 2))

    verdict = judge(older, log_with(end=40, epoch_end=40), EARLIEST)

    assert verdict == Verdict(10, (Gap(GapKind.PAST_END, 40, 50, 10),))


@pytest.mark.parametrize("reset", OffsetReset)
@pytest.mark.parametrize("end", [45, 50, 90])
def test_a_log_that_took_another_course_is_followed_from_where_it_did(
    reset: OffsetReset, end: int
) -> None:
    verdict = judge(KNOWN, log_with(end=end, epoch_end=45), reset)

    assert verdict == Verdict(45, (Gap(GapKind.TRUNCATED, 45, 50, 45),))


def test_another_course_behind_the_position_is_none_for_it() -> None:
    ahead = replace(KNOWN, mark=LeaderEpochMark(58, 3))  # read, but not acknowledged yet

    assert judge(ahead, log_with(epoch_end=55), EARLIEST) == Verdict(50)
    assert judge(ahead, log_with(epoch_end=45), EARLIEST).position == 45


def test_an_older_mark_says_nothing_of_what_came_after_it() -> None:
    older = replace(KNOWN, mark=LeaderEpochMark(30, 2))

    assert judge(older, log_with(epoch_end=40), EARLIEST) == Verdict(50)
    assert judge(older, log_with(epoch_end=20), EARLIEST).position == 20


def test_a_leader_that_lacks_an_epoch_is_followed_from_where_that_began_however_long_its_older_ones_are() -> (
    None
):
    """KIP-279: it was to be truncated, and was elected before."""
    known = replace(KNOWN, mark=LeaderEpochMark(50, 3, ((2, 30), (3, 40))))

    assert judge(known, log_with(epoch_end=45, epoch=3), EARLIEST).position == 45
    assert judge(known, log_with(epoch_end=45, epoch=2), EARLIEST).position == 40
    assert judge(known, log_with(epoch_end=45, epoch=1), EARLIEST).position == 30
    assert mark_after(known, log_with(epoch_end=45, epoch=2), Verdict(40)) == LeaderEpochMark(
        40, 3, ((2, 30),)
    )


def test_a_leader_that_does_not_know_the_epoch_has_another_log() -> None:
    verdict = judge(KNOWN, log_with(epoch_end=UNKNOWN_EPOCH), EARLIEST)

    assert verdict == Verdict(10, (Gap(GapKind.TRUNCATED, 10, 50, 10),))


def test_what_followed_another_course_may_be_deleted_too() -> None:
    verdict = judge(KNOWN, log_with(start=48, epoch_end=45), EARLIEST)

    assert verdict.position == 48
    assert verdict.gaps == (
        Gap(GapKind.TRUNCATED, 45, 50, 45),
        Gap(GapKind.OVERTAKEN, 45, 48, 48),
    )


@pytest.mark.parametrize(("reset", "position"), [(EARLIEST, 10), (LATEST, 90), (NONE, None)])
def test_a_source_topic_created_again_starts_over_wherever_its_log_ends(
    reset: OffsetReset, position: int | None
) -> None:
    """Its offsets say nothing: not the position, nor the epochs."""
    for end_of_epoch, start in product((None, UNKNOWN_EPOCH, 0, 90), (10, 0)):
        found = replace(
            FOUND, source=NEW_SOURCE, log=LOG._replace(epoch_end=end_of_epoch, start=start)
        )
        verdict = judge(KNOWN, found, reset)
        expected = start if reset is EARLIEST else position
        resumed = -1 if expected is None else expected
        assert verdict == Verdict(expected, (Gap(GapKind.SOURCE_RECREATED, 50, 60, resumed),))
        assert verdict.gaps[0].unmirrored == 10


def test_a_source_topic_that_is_gone_leaves_what_was_not_mirrored() -> None:
    verdict = judge(KNOWN, replace(FOUND, source=GONE), EARLIEST)

    assert verdict == Verdict(None, (Gap(GapKind.SOURCE_DELETED, 50, 60, -1),))
    assert not fails(verdict, CONTINUE)
    assert fails(verdict, FAIL)


@pytest.mark.parametrize("source", [GONE, NEW_SOURCE])
def test_of_a_source_that_never_had_a_record_nothing_is_lost(source: Topic) -> None:
    empty = Known(position=0, source_end=0, origin=KNOWN.origin)

    assert not judge(empty, replace(FOUND, source=source, log=LOG._replace(start=0)), EARLIEST).gaps


@pytest.mark.parametrize(
    ("remote", "kind"), [(GONE, GapKind.REMOTE_DELETED), (NEW_REMOTE, GapKind.REMOTE_RECREATED)]
)
def test_a_remote_topic_that_is_another_takes_what_was_mirrored_with_it(
    remote: Topic, kind: GapKind
) -> None:
    verdict = judge(KNOWN, replace(FOUND, remote=remote), EARLIEST)

    assert verdict == Verdict(50, (Gap(kind, 0, 50, 50),))
    assert verdict.gaps[0].unmirrored == 0


def test_a_remote_topic_that_nothing_was_mirrored_to_is_no_loss() -> None:
    untouched = replace(KNOWN, position=0)
    unknown = replace(
        KNOWN, origin=TopicIdPair("s1", None)
    )  # never seen: created for the first time

    for known in (untouched, unknown):
        for remote in (GONE, NEW_REMOTE):
            assert not judge(
                known, replace(FOUND, remote=remote, log=LOG._replace(start=0)), EARLIEST
            ).gaps


def test_both_sides_may_be_others() -> None:
    verdict = judge(KNOWN, replace(FOUND, source=NEW_SOURCE, remote=NEW_REMOTE), EARLIEST)

    assert kinds(verdict) == [GapKind.SOURCE_RECREATED, GapKind.REMOTE_RECREATED]
    assert verdict.position == 10


def test_every_combination_keeps_the_laws() -> None:
    """Without a gap on the source's side the position stays; a position is always within the log."""
    topics = (Topic(True, "s1"), NEW_SOURCE, Topic(True, None), GONE)
    remotes = (Topic(True, "t1"), NEW_REMOTE, Topic(True, None), GONE)
    logs = [(s, e) for s, e in product((0, 10, 50, 55), (0, 40, 50, 90)) if s <= e]
    epochs = (None, UNKNOWN_EPOCH, 0, 45, 50, 90)
    on_target = {GapKind.REMOTE_DELETED, GapKind.REMOTE_RECREATED}
    for source, remote, (start, end), epoch_end, reset in product(
        topics, remotes, logs, epochs, OffsetReset
    ):
        if epoch_end is not None and epoch_end > end:
            continue
        found = Found(source=source, remote=remote, log=LogBounds(start, end, epoch_end))
        verdict = judge(KNOWN, found, reset)
        on_source = [gap for gap in verdict.gaps if gap.kind not in on_target]
        if not on_source:
            assert verdict.position == KNOWN.position, found
        if verdict.position is not None:
            assert start <= verdict.position <= end, found
        assert fails(verdict, FAIL) is bool(verdict.gaps)
        for gap in verdict.gaps:
            assert gap.first <= gap.end, found


def test_a_gap_without_a_way_on_fails_whatever_the_policy() -> None:
    verdict = judge(KNOWN, log_with(start=55), NONE)

    assert fails(verdict, CONTINUE)
    assert not fails(judge(KNOWN, log_with(start=55), EARLIEST), CONTINUE)


@pytest.mark.parametrize("kind", GapKind)
def test_every_gap_is_told_with_its_range_and_its_outcome(kind: GapKind) -> None:
    said = describe(Gap(kind, 50, 60, 7))

    assert ("50" in said and "59" in said) or "offset 60 is past the source's end 50" in said
    assert describe(Gap(kind, 50, 50, 7))
    policy = "target.log.loss" if kind is GapKind.TARGET_LOST else "source.log.gap"
    assert f"{policy}.policy=fail" in outcome(Gap(kind, 50, 60, -1), FAIL)
    then = outcome(Gap(kind, 50, 60, 7), CONTINUE)
    expected = {
        GapKind.SOURCE_DELETED: "its remote topic is kept",
        GapKind.TARGET_LOST: "copying them again from source offset 7",
    }
    assert then == expected.get(kind, "continuing at offset 7")


def test_what_the_target_lost_and_cannot_be_located_stays_lost_and_is_told_so() -> None:
    said = outcome(Gap(GapKind.TARGET_LOST, 50, 60, 60), CONTINUE)

    assert "not copied again: continuing at offset 60" in said


def test_each_side_has_a_policy_of_its_own() -> None:
    lost = Verdict(50, (Gap(GapKind.TARGET_LOST, 50, 60, 50),))
    overtaken = Verdict(60, (Gap(GapKind.OVERTAKEN, 50, 60, 60),))
    source, target = GapPolicies(source=GapPolicy.FAIL), GapPolicies(target=LossPolicy.FAIL)

    assert (fails(lost, source), fails(lost, target)) == (False, True)
    assert (fails(overtaken, source), fails(overtaken, target)) == (True, False)


@pytest.mark.parametrize(
    ("found", "departs", "mark"),
    [
        (FOUND, None, LeaderEpochMark(50, 3)),
        (
            log_with(start=55),
            None,
            LeaderEpochMark(50, 3),
        ),  # overtaken by retention
        (log_with(epoch_end=45), 45, LeaderEpochMark(45, 3)),
        (log_with(epoch_end=UNKNOWN_EPOCH), None, None),
        (replace(FOUND, source=NEW_SOURCE), None, None),
        (log_with(epoch_end=None), None, LeaderEpochMark(50, 3)),
    ],
)
def test_what_is_known_of_a_log_outlives_a_jump(
    found: Found, departs: int | None, mark: LeaderEpochMark | None
) -> None:
    """A second truncation before the next record is read must be noticed, too."""
    verdict = judge(KNOWN, found, EARLIEST)

    assert departure(KNOWN, found) == departs
    assert mark_after(KNOWN, found, verdict) == mark
    again = replace(KNOWN, position=verdict.position or 0, mark=mark)
    if (
        found.source == FOUND.source
        and found.log is not None
        and found.log.epoch_end != UNKNOWN_EPOCH
    ):
        assert not judge(again, found, EARLIEST).gaps, "told twice"
