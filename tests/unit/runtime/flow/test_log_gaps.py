"""What the driver makes of ids, positions and receipts; no broker is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.state_records import PartitionStatus
from heliograph.model import (
    AckedOffsets,
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    LogBounds,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.topic_outcome import TopicIds
from heliograph.runtime.flow.log_gaps import FlowGaps
from support.configurations.mm2_files import BASE, Reader

TP = TopicPartition("orders", 0)
SAME = TopicIds(source={"orders": "s1"}, target={"us.orders": "t1"})
NEW_SOURCE = TopicIds(source={"orders": "s2"}, target={"us.orders": "t1"})
NEW_REMOTE = TopicIds(source={"orders": "s1"}, target={"us.orders": "t2"})
REMOTE_MADE = TopicIds(source={"orders": "s1"}, target={}, created={"us.orders": "t2"})
GONE = TopicIds(source={}, target={"us.orders": "t1"})
STATUS = PartitionStatus(
    topic="orders",
    partition=0,
    flow="us->eu",
    position=50,
    source_end=60,
    copied_ms=1,
    state=PartitionState.RUNNING,
    mark=LeaderEpochMark(50, 3),
    origin=TopicIdPair("s1", "t1"),
)


def flow(folder: Path, policy: str = "continue") -> FlowConfig:
    return Reader(folder)(f"{BASE}source.log.gap.policy = {policy}\n").flows[0]


@pytest.fixture
def gaps(tmp_path: Path) -> FlowGaps:
    return loaded(FlowGaps(flow(tmp_path)))


@pytest.fixture
def strict(tmp_path: Path) -> FlowGaps:
    return loaded(FlowGaps(flow(tmp_path, "fail")))


def loaded(gaps: FlowGaps) -> FlowGaps:
    gaps.load({TP: STATUS}, {})
    return gaps


def given(
    gaps: FlowGaps, moved: dict[TopicPartition, int | None]
) -> dict[TopicPartition, int | None]:
    """As a flow does it: positions are taken over."""
    assert not moved.keys() & gaps.lineages().keys(), "it must not be copied before"
    gaps.moved(moved)
    return moved


def look(
    gaps: FlowGaps,
    ids: TopicIds,
    position: int = 50,
    *,
    past_end: bool = False,
    found: LogBounds | None = None,
) -> dict[TopicPartition, int | None]:
    def logs(
        marks: Mapping[TopicPartition, LeaderEpochMark | None],
    ) -> Mapping[TopicPartition, LogBounds]:
        return {} if found is None else dict.fromkeys(marks, found)

    moved = gaps.look(
        ids,
        {TP: position},
        [TP] if "orders" in ids.source else [],
        wanted=lambda topic: topic == "orders",
        past_end=[TP] if past_end else [],
        logs=logs,
    )
    return given(gaps, moved)


def receipt(
    position: int = 50,
    *,
    generation: int = 0,
    stored: bool = True,
    recheck: bool = False,
    state: PartitionState = PartitionState.RUNNING,
    gaps: tuple[Gap, ...] = (),
) -> Receipt:
    return Receipt(
        flow="us->eu",
        topic="orders",
        partition=0,
        position=position,
        records=0,
        bytes=0,
        source_end=70,
        stored=stored,
        state=state,
        mark=LeaderEpochMark(position, 3),
        generation=generation,
        recheck=recheck,
        gaps=gaps,
    )


FRESH = LogBounds(start=0, end=20, epoch_end=20)
OVERTAKEN = Gap(GapKind.OVERTAKEN, 50, 55, 55, at_ms=7)


def test_topics_that_are_the_same_move_nothing(gaps: FlowGaps) -> None:
    assert look(gaps, SAME) == {}
    assert gaps.records() == []
    assert gaps.lineages()[TP] == (TopicIdPair("s1", "t1"), LeaderEpochMark(50, 3), 0, None)


def test_a_source_created_again_gives_another_position_in_another_turn(gaps: FlowGaps) -> None:
    assert look(gaps, NEW_SOURCE, found=FRESH) == {TP: 0}
    assert look(gaps, NEW_SOURCE, position=0) == {}, "told twice"

    (record,) = gaps.records()
    assert (record.gaps, record.unmirrored, record.last[:4]) == (
        1,
        10,
        (GapKind.SOURCE_RECREATED, 50, 60, 0),
    )
    assert gaps.lineages()[TP] == (TopicIdPair("s2", "t1"), None, 1, None)
    assert gaps.generations(TP) == range(1, 2)


def test_ids_are_told_to_a_successor_once_the_new_offset_is_stored(gaps: FlowGaps) -> None:
    look(gaps, NEW_SOURCE, found=FRESH)

    gaps.learn([receipt(generation=0)])  # a task of the old topic, whose word is void
    assert gaps.origins()[TP] == TopicIdPair("s1", "t1")
    gaps.learn([receipt(5, generation=1, stored=False)])
    assert gaps.origins()[TP] == TopicIdPair("s1", "t1")
    gaps.learn([receipt(5, generation=1)])
    assert gaps.origins()[TP] == TopicIdPair("s2", "t1")


def test_what_cannot_be_asked_is_looked_at_again(gaps: FlowGaps) -> None:
    assert look(gaps, NEW_SOURCE, found=None) == {}
    assert look(gaps, NEW_SOURCE, found=FRESH) == {TP: 0}


def test_a_topic_that_is_gone_is_told_once_even_by_successors(
    gaps: FlowGaps, tmp_path: Path
) -> None:
    look(gaps, GONE)
    look(gaps, GONE)
    successor = FlowGaps(flow(tmp_path))
    successor.load({TP: STATUS}, {TP: gaps.records()[0]})
    look(successor, GONE)

    (record,) = successor.records()
    assert (record.gaps, record.last.kind) == (1, GapKind.SOURCE_DELETED)
    assert look(successor, NEW_SOURCE, found=FRESH) == {TP: 0}
    assert successor.records()[0].gaps == 2


@pytest.mark.parametrize("ids", [NEW_REMOTE, REMOTE_MADE])
def test_another_remote_topic_keeps_the_position_and_the_turn(
    gaps: FlowGaps, ids: TopicIds
) -> None:
    before = gaps.identities()

    assert look(gaps, ids, found=LogBounds(start=0, end=90)) == {}
    assert look(gaps, NEW_REMOTE) == {}

    (record,) = gaps.records()
    assert (record.gaps, record.last.first, record.last.end) == (1, 0, 50)
    assert gaps.identities() != before, "its lease is another"
    assert gaps.generations(TP) == range(2), "what its tasks say of positions holds"
    assert gaps.origins()[TP] == TopicIdPair("s1", "t2")


def test_places_on_a_remote_topic_say_nothing_of_another_by_its_name(gaps: FlowGaps) -> None:
    """Or the next task would take the new topic for one that has lost its records, and copy them again."""
    look(gaps, SAME)
    told = replace(receipt(65), ranges=(OffsetRange(50, 40, 15),))
    gaps.learn([told])
    assert gaps.lineages()[TP].acked_offsets == AckedOffsets(65, 55)

    look(gaps, NEW_REMOTE, found=LogBounds(start=0, end=90))
    gaps.learn([replace(told, ranges=(OffsetRange(65, 55, 0),))])  # of a task that has not ended
    assert gaps.lineages()[TP].acked_offsets is None

    gaps.learn([replace(told, generation=1, ranges=(OffsetRange(65, 2, 3),))])
    assert gaps.lineages()[TP].acked_offsets == AckedOffsets(68, 5)


def test_the_last_receipt_says_where_the_newest_record_stands_under_which_leader(
    gaps: FlowGaps,
) -> None:
    look(gaps, SAME)
    acked = AckedOffsets(65, 57, 54, 3)
    gaps.learn([replace(receipt(65), ranges=(OffsetRange(50, 40, 15),), acked_offsets=acked)])

    assert gaps.lineages()[TP].acked_offsets == acked


def test_the_range_is_where_the_tasks_stand_not_where_they_started(gaps: FlowGaps) -> None:
    look(gaps, SAME)
    gaps.learn([receipt(65)])

    look(gaps, NEW_REMOTE, found=LogBounds(start=0, end=90))

    assert gaps.records()[0].last.end == 65


def test_a_position_past_the_end_is_looked_at(gaps: FlowGaps) -> None:
    assert look(gaps, SAME, position=50, past_end=True, found=LogBounds(start=0, end=40)) == {TP: 0}
    assert gaps.records()[0].last.kind is GapKind.PAST_END


@pytest.mark.parametrize("known", [TopicIdPair(), TopicIdPair("s1", "t1")])
def test_a_position_past_the_last_stable_offset_alone_leaves_the_lineage_as_it_is(
    known: TopicIdPair, tmp_path: Path
) -> None:
    """A mirror that read uncommitted records has gone further than one that reads committed ones may. The
    driver would drop the producer snapshot with the turn, and the next task would copy the records since
    that snapshot twice, without a log line (simulation: isolation 10)."""
    gaps = FlowGaps(flow(tmp_path))
    gaps.load({TP: replace(STATUS, origin=known)}, {})
    before = gaps.lineages()[TP].generation

    found = LogBounds(start=0, end=70, epoch_end=70)
    assert look(gaps, SAME, position=50, past_end=True, found=found) == {}
    assert gaps.lineages()[TP].generation == before


def test_a_jump_keeps_the_mark_of_what_both_courses_have_in_common(gaps: FlowGaps) -> None:
    """Without it, another truncation before the next record is read would go unnoticed; with the old one, a
    successor would take records that were read after the jump for truncated ones."""
    found = LogBounds(start=0, end=35, epoch_end=30)

    assert look(gaps, SAME, position=50, past_end=True, found=found) == {TP: 30}
    assert gaps.lineages()[TP].mark == LeaderEpochMark(30, 3)


@pytest.mark.parametrize(("ids", "kept"), [(SAME, AckedOffsets(30, 57, 54, 3)), (NEW_REMOTE, None)])
def test_under_exactly_once_a_jump_keeps_what_the_remote_log_must_still_have(
    ids: TopicIds, kept: AckedOffsets | None, tmp_path: Path
) -> None:
    """A source that was truncated and a target that had lost its tail, found at the same start: without the
    length of the remote log, records before the jump were lost in silence (simulation: everything 2067)."""
    more = "source.log.gap.policy = continue\neu.exactly.once.source.support = enabled\n"
    gaps = loaded(FlowGaps(Reader(tmp_path)(f"{BASE}{more}").flows[0]))
    gaps.resume_transactions({TP: AckedOffsets(50, 57, 54, 3)})

    found = LogBounds(start=0, end=35, epoch_end=30)
    assert look(gaps, ids, position=50, past_end=True, found=found) == {TP: 30}
    assert gaps.lineages()[TP].acked_offsets == kept


def test_a_snapshot_without_a_mark_is_newer_than_the_status_beside_it(gaps: FlowGaps) -> None:
    """Its writer had lost the mark at a jump; the status still has the one of before."""
    snapshot = ProducerSnapshot(
        30, 50, 0, ProducerIdentity(7, 0), isolation=IsolationLevel.READ_UNCOMMITTED
    )
    gaps.resume({TP: snapshot})
    assert gaps.lineages()[TP].mark is None


def test_a_snapshot_of_a_version_that_noted_no_marks_says_nothing_of_them(gaps: FlowGaps) -> None:
    gaps.resume({TP: ProducerSnapshot(30, 50, 0, ProducerIdentity(7, 0))})
    assert gaps.lineages()[TP].mark == LeaderEpochMark(50, 3)


def test_a_partition_that_goes_on_behind_a_gap_and_is_refused_since_may_be_leased_again(
    gaps: FlowGaps,
) -> None:
    """A receipt may tell of a gap and of a refusal that the task tries again. The driver took the refusal
    for the end of the partition, and never leased it again (simulation: everything 59)."""
    look(gaps, SAME)
    gaps.learn([receipt(66, state=PartitionState.FAILED, gaps=(OVERTAKEN,))])

    assert gaps.records()[0].last == OVERTAKEN
    assert gaps.failed() == {}
    assert TP in gaps.lineages()


def test_gaps_of_tasks_are_counted_once_however_often_they_are_told(gaps: FlowGaps) -> None:
    look(gaps, SAME)
    for _ in range(2):
        gaps.learn([receipt(55, gaps=(OVERTAKEN,))])
    gaps.learn([receipt(66, gaps=(Gap(GapKind.OVERTAKEN, 60, 66, 66, at_ms=9),))])

    (record,) = gaps.records()
    assert (record.gaps, record.unmirrored) == (2, 11)


def test_gaps_of_this_service_are_counted_by_kind_from_0(gaps: FlowGaps) -> None:
    """Prometheus' increase() sees the first gap only if its counter was there before."""
    none = dict.fromkeys(map(str, GapKind), (0, 0))
    assert gaps.counts() == none
    overtaken, lost = Gap(GapKind.OVERTAKEN, 10, 15, 15), Gap(GapKind.TARGET_LOST, 3, 5, 3)
    gaps.learn([replace(receipt(50), gaps=(overtaken, lost))])
    gaps.learn([replace(receipt(50), gaps=(overtaken._replace(first=20, end=21),))])

    assert gaps.counts() == none | {"OVERTAKEN": (2, 6), "TARGET_LOST": (1, 0)}


def test_a_recheck_is_asked_for_once(gaps: FlowGaps) -> None:
    gaps.learn([receipt(recheck=True)])

    assert gaps.take_recheck()
    assert not gaps.take_recheck()
    assert not gaps.take_stuck()


def test_partitions_that_tasks_have_stopped_get_another_lease(gaps: FlowGaps) -> None:
    gaps.learn([receipt(recheck=True, state=PartitionState.FAILED)])

    assert gaps.take_stuck()
    assert not gaps.take_stuck()


def test_what_tasks_said_before_a_failed_query_is_void(gaps: FlowGaps) -> None:
    look(gaps, SAME)
    gaps.learn([receipt(65)])
    gaps.forget()
    gaps.learn([receipt(70)])  # still on its way

    look(gaps, NEW_REMOTE, found=LogBounds(start=0, end=90))

    assert gaps.records()[0].last.end == 50


def test_with_the_policy_fail_a_partition_waits_until_another_offset_is_stored(
    strict: FlowGaps,
) -> None:
    assert look(strict, NEW_SOURCE, found=FRESH) == {}
    failed = strict.failed()[TP]
    assert failed.state is PartitionState.FAILED
    assert "created again" in (failed.error or "")

    assert strict.release({TP: 48}, NEW_SOURCE) == {}, "the first look is what others compare with"
    assert strict.release({TP: 50}, NEW_SOURCE) == {}, "the task's own last word"
    assert look(strict, NEW_SOURCE, found=FRESH) == {}
    assert strict.release({TP: 12}, NEW_SOURCE) == {TP: 12}

    assert strict.failed() == {}
    assert strict.records()[0].failure is None
    assert strict.records()[0].gaps == 1
    assert strict.origins()[TP] == TopicIdPair("s2", "t1")
    assert look(strict, NEW_SOURCE, position=12) == {}


def test_a_failure_outlives_the_service_and_ends_with_the_policy(
    strict: FlowGaps, tmp_path: Path
) -> None:
    look(strict, NEW_SOURCE, found=FRESH)
    strict.release({TP: 50}, NEW_SOURCE)
    record = strict.records()[0]

    for stored, goes_on in (({TP: 50}, {}), ({TP: 3}, {TP: 3}), ({}, {TP: None})):
        successor = FlowGaps(flow(tmp_path, "fail"))
        successor.load({TP: STATUS}, {TP: record})
        assert TP in successor.failed()
        assert successor.release(stored, NEW_SOURCE) == goes_on
        assert (TP in successor.failed()) is (goes_on == {})
    willing = FlowGaps(flow(tmp_path, "continue"))
    willing.load({TP: STATUS}, {TP: record})

    assert look(willing, NEW_SOURCE, found=FRESH) == {TP: 0}


def test_a_partition_that_a_task_failed_is_held_back(strict: FlowGaps) -> None:
    look(strict, SAME)

    strict.learn([receipt(50, state=PartitionState.FAILED, gaps=(OVERTAKEN,))])
    strict.learn([receipt(50, state=PartitionState.FAILED)])

    assert "source offsets 50 to 54" in (strict.failed()[TP].error or "")
    assert strict.release({}, SAME) == {}
    assert strict.release({TP: 55}, SAME) == {TP: 55}
