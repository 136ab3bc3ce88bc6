from __future__ import annotations

from dataclasses import replace

import pytest

from heliograph.inspection.mirror_status import (
    GroupState,
    Member,
    PositionFrom,
    Service,
    ServiceState,
)
from heliograph.inspection.status_rules import (
    WAITING,
    ObservedGroup,
    ObservedPartition,
    group_partition,
    in_words,
    partition_view,
    service_status,
    why_no_state,
    with_news,
)
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.state_records import PAUSED, RUNNING, STOPPED, FlowStatus, PartitionStatus
from heliograph.model import CommittedOffset, OffsetReset, PartitionState, TopicPartition

NOW = 1_000_000
ALIVE = Service(state=ServiceState.RUNNING, detail="", seen_seconds_ago=1.0)
GONE = Service(state=ServiceState.NOT_RUNNING, detail="", seen_seconds_ago=99.0)
UNKNOWN = Service(state=ServiceState.UNKNOWN, detail="", seen_seconds_ago=None)


def flow_status(state: str, at_ms: int) -> FlowStatus:
    return FlowStatus(
        flow="a->b",
        source="a",
        target="b",
        source_id=None,
        target_id=None,
        policy="DefaultReplicationPolicy",
        state=state,
        at_ms=at_ms,
    )


@pytest.mark.parametrize(
    ("status", "state", "detail"),
    [
        (None, ServiceState.UNKNOWN, "no Heliograph state"),
        (flow_status(RUNNING, NOW - 30_000), ServiceState.RUNNING, "seen 30 s ago"),
        (flow_status(RUNNING, NOW - 30_001), ServiceState.NOT_RUNNING, "last seen 30 s ago"),
        (flow_status(STOPPED, NOW - 1_000), ServiceState.NOT_RUNNING, "stopped 1.0 s ago"),
        # its clock is ahead of ours
        (flow_status(RUNNING, NOW + 60_000), ServiceState.RUNNING, "seen 0.0 s ago"),
    ],
)
def test_a_service_is_running_if_its_state_is_recent(
    status: FlowStatus | None, state: ServiceState, detail: str
) -> None:
    service = service_status(status, NOW)

    assert (service.state, service.detail) == (state, detail)


def test_a_paused_flow_is_paused_for_as_long_as_a_service_could_resume_it() -> None:
    paused = flow_status(PAUSED, NOW - 3_600_000)
    here = Member(process="host, pid 1", state="RUNNING")

    seen, gone = service_status(paused, NOW, members=[here]), service_status(paused, NOW)

    assert (seen.state, seen.detail) == (
        ServiceState.PAUSED,
        "for 60 min; resume its connector to go on",
    )
    assert (gone.state, gone.detail) == (ServiceState.NOT_RUNNING, "stopped 60 min ago")


def partition_status(position: int, state: PartitionState, error: str | None) -> PartitionStatus:
    return PartitionStatus(
        topic="orders",
        partition=0,
        flow="a->b",
        position=position,
        source_end=100,
        copied_ms=NOW - 3_000,
        state=state,
        error=error,
    )


SEEN = ObservedPartition(
    partition=TopicPartition("orders", 0),
    remote_topic="a.orders",
    source_start=10,
    source_end=100,
    target_end=80,
    stored=70,
    status=partition_status(90, PartitionState.RETRYING, "slow"),
)


def test_a_running_service_knows_the_position_best() -> None:
    found = partition_view(SEEN, ALIVE, OffsetReset.EARLIEST, NOW - 5_000, NOW)

    assert (found.position, found.position_from) == (90, PositionFrom.HELIOGRAPH)
    assert (found.lag_records, found.lag_seconds, found.copied_seconds_ago) == (10, 5.0, 3.0)
    assert (found.state, found.error, found.failed) == ("RETRYING", "slow", False)


def test_the_position_of_a_stopped_service_is_ignored() -> None:
    found = partition_view(SEEN, GONE, OffsetReset.EARLIEST, None, NOW)

    assert (found.position, found.position_from) == (70, PositionFrom.CONNECT)
    assert (found.lag_records, found.lag_seconds, found.state) == (30, None, "NOT RUNNING")


def test_without_any_state_the_offsets_still_tell_the_lag() -> None:
    seen = replace(SEEN, status=None)

    found = partition_view(seen, UNKNOWN, OffsetReset.EARLIEST, NOW - 1, NOW)

    assert (found.position, found.lag_records, found.state) == (70, 30, "UNKNOWN")
    assert found.copied_seconds_ago is None


def test_a_partition_without_a_stored_offset_lags_by_its_whole_log() -> None:
    seen = replace(SEEN, stored=None, status=None, target_end=0)

    earliest = partition_view(seen, ALIVE, OffsetReset.EARLIEST, None, NOW)
    latest = partition_view(seen, ALIVE, OffsetReset.LATEST, None, NOW)

    assert (earliest.position_from, earliest.lag_records) == (PositionFrom.RESET, 90)
    assert (latest.position, latest.lag_records, latest.lag_seconds) == (None, None, None)
    assert earliest.state == WAITING


def test_a_reported_position_is_compared_with_the_end_of_its_report() -> None:
    """The 50 records since are no lag: the next report will have them mirrored."""
    reported = partition_status(100, PartitionState.RUNNING, None)
    busy = replace(reported, position=90)
    seen = replace(SEEN, source_end=150, status=reported)

    current = partition_view(seen, ALIVE, OffsetReset.EARLIEST, None, NOW)
    behind = partition_view(replace(seen, status=busy), ALIVE, OffsetReset.EARLIEST, None, NOW)

    assert (current.lag_records, current.lag_seconds, current.source_end) == (0, 0.0, 100)
    assert (behind.lag_records, behind.source_end) == (10, 100)


@pytest.mark.parametrize(
    "status",
    [
        partition_status(100, PartitionState.RETRYING, "slow"),  # knows of no new records
        replace(partition_status(100, PartitionState.RUNNING, None), source_end=-1),
    ],
)
def test_the_current_end_counts_where_the_report_has_none_or_an_old_one(
    status: PartitionStatus,
) -> None:
    seen = replace(SEEN, source_end=150, status=status)

    found = partition_view(seen, ALIVE, OffsetReset.EARLIEST, None, NOW)

    assert (found.lag_records, found.source_end) == (50, 150)


@pytest.mark.parametrize("service", [UNKNOWN, ALIVE])
def test_a_copy_with_records_and_no_offset_or_report_has_an_unknown_lag(service: Service) -> None:
    """Also in the first seconds of a running service: it has not said yet what it has copied."""
    seen = replace(SEEN, stored=None, status=None)

    copied = partition_view(seen, service, OffsetReset.EARLIEST, None, NOW)
    empty = partition_view(replace(seen, target_end=0), service, OffsetReset.EARLIEST, None, NOW)

    assert (copied.position, copied.lag_records, copied.lag_seconds) == (None, None, None)
    assert (empty.position_from, empty.lag_records) == (PositionFrom.RESET, 90)


def test_a_running_service_without_its_state_topic_is_told_what_to_create() -> None:
    topic = "mm2-heliograph.a.internal"
    standby, leader = Member(process="x", state="STANDBY"), Member(process="y", state="RUNNING")

    why = why_no_state(topic, "b", "a-mm2", [standby, leader])
    service = service_status(None, NOW, why)

    assert service.state is ServiceState.UNKNOWN
    assert service.detail.startswith("a Heliograph leads the group a-mm2")
    assert f"create {topic} with 1 partition and cleanup.policy=compact" in service.detail
    assert why_no_state(topic, "b", "a-mm2", [standby]) is None


def test_what_a_service_has_reported_is_not_observed_a_second_time() -> None:
    reported = {"flow a->b: groups: groups=x": "groups=x matches no group"}

    assert with_news(reported, {"groups=x": "groups=x matches no group", "y": "new"}) == {
        **reported,
        "y": "new",
    }


@pytest.mark.parametrize(
    ("stored", "lag"),
    [
        (100, 0),
        (120, 0),  # the source was truncated
        (3, 90),  # retention took the rest
    ],
)
def test_lag_counts_what_can_still_be_mirrored(stored: int, lag: int) -> None:
    seen = replace(SEEN, stored=stored)

    found = partition_view(seen, GONE, OffsetReset.EARLIEST, None, NOW)

    assert found.lag_records == lag
    assert found.lag_seconds == (0.0 if lag == 0 else None)


def test_a_side_that_is_not_known_makes_no_lag_of_zero() -> None:
    found = partition_view(replace(SEEN, source_end=None), ALIVE, OffsetReset.EARLIEST, None, NOW)

    assert (found.lag_records, found.lag_seconds) == (None, None)


GROUP = ObservedGroup(
    group="billing",
    partition=TopicPartition("orders", 0),
    remote=TopicPartition("a.orders", 0),
    source=CommittedOffset(60),
    source_end=100,
    checkpoint=Checkpoint("billing", "a.orders", 0, 60, 50),
    target=CommittedOffset(40),
    target_end=80,
    left_alone=None,
    untranslated=None,
)


def test_a_group_is_shown_with_its_lag_on_both_sides() -> None:
    found = group_partition(GROUP, synced=True)

    assert (found.source_offset, found.source_lag) == (60, 40)
    assert (found.checkpointed, found.translated) == (60, 50)
    assert (found.target_offset, found.target_lag) == (40, 40)


@pytest.mark.parametrize(
    ("seen", "synced", "state", "why"),
    [
        (replace(GROUP, target=CommittedOffset(50)), True, GroupState.SYNCED, None),
        (GROUP, True, GroupState.DUE, "to be committed on the target"),
        (replace(GROUP, target=None), True, GroupState.DUE, "to be committed on the target"),
        (
            replace(GROUP, target_end=45),
            True,
            GroupState.DUE,
            "50 is past the target's log end 45",
        ),
        (replace(GROUP, target_end=None), True, GroupState.DUE, "the target has no such partition"),
        (GROUP, False, GroupState.TRANSLATED, "sync.group.offsets.enabled is false"),
        (
            replace(GROUP, left_alone="in use on the target (Stable)"),
            True,
            GroupState.LEFT_ALONE,
            "in use on the target (Stable)",
        ),
        (
            replace(GROUP, checkpoint=None, untranslated="no mirrored offsets are known"),
            True,
            GroupState.NOT_TRANSLATED,
            "no mirrored offsets are known",
        ),
        (
            replace(GROUP, checkpoint=None),
            True,
            GroupState.NOT_TRANSLATED,
            "its checkpoint is not written yet",
        ),
    ],
)
def test_a_group_that_is_not_synced_has_a_reason(
    seen: ObservedGroup, synced: bool, state: GroupState, why: str | None
) -> None:
    found = group_partition(seen, synced=synced)

    assert (found.state, found.why) == (state, why)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.25, "0.2 s"), (30, "30 s"), (119, "119 s"), (300, "5 min"), (7200, "2 h"), (3e5, "3 d")],
)
def test_times_are_as_coarse_as_people_need_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
