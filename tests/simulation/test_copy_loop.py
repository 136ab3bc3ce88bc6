"""Laws of the copy loop, under faults that seeds decide. Each test also shows that its faults happened.

A run checks them all: nothing is lost, doubled or out of order without a log line, no partition is stuck, no
offset is translated to one behind its record (`oracle.py`). To see what happened in a run that failed:
PYTHONPATH=tests python -m simulation --trace SCENARIO SEED
"""

from __future__ import annotations

import time
from collections import Counter

import pytest

from simulation import scenarios
from simulation.scenarios import Delivery, Scenario
from simulation.simulate import simulate

_SEEDS = 18
_OF_EVERYTHING = 300
_EXACTLY_ONCE = 40


def hold(
    scenario: Scenario,
    seeds: int = _SEEDS,
    delivery: Delivery = Delivery.AT_LEAST_ONCE,
) -> Counter[str]:
    """Runs some seeds, and returns what happened in them."""
    happened: Counter[str] = Counter()
    violated = []
    for seed in range(seeds):
        run = simulate(seed, scenario, delivery)
        happened += run.happened
        if run.violations:
            violated.append(str(run))
    assert violated == []
    return happened


def test_a_seed_does_the_same_however_long_the_machine_has_been_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = scenarios.KILLED_AND_OVERTAKEN
    before = [simulate(seed, scenario) for seed in range(5)]
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() - 1e6)
    assert [simulate(seed, scenario) for seed in range(5)] == before


def test_no_law_is_violated_with_every_fault_at_once() -> None:
    happened = hold(scenarios.EVERYTHING, _OF_EVERYTHING)
    for fault in (
        "kill_and_change_isolation",
        "kill_task",
        "kill_driver",
        "freeze_task",
        "end_epoch",
        "move_leaders",
        "deny",
        "take_state_away",
        "truncate_source",
        "delete_from_source",
        "compact_source",
        "lose_target_tail",
        "restart_target",
        "delete_from_target",
        "write_to_target",
        "producers expired",
        "limit_size",
        "end_transaction",
        "late request appended",
        "record quarantined",
        "OVERTAKEN",
        "TRUNCATED",
        "TARGET_LOST",
        "fallback",
    ):
        assert happened[fault], fault


def test_no_law_is_violated_under_exactly_once_with_every_fault_at_once() -> None:
    happened = hold(scenarios.EVERYTHING, _EXACTLY_ONCE, Delivery.EXACTLY_ONCE)
    for fault in (
        "kill",
        "kill_task",
        "kill_driver",
        "freeze_task",
        "end_epoch",
        "deny",
        "lose_target_tail",
        "restart_target",
        "TARGET_LOST",
    ):
        assert happened[fault], fault


def test_no_law_is_violated_in_a_lane_with_every_fault_at_once() -> None:
    """Records are dropped, fail, or pass; what fails is in quarantine, in the same transaction."""
    happened = hold(scenarios.EVERYTHING, _EXACTLY_ONCE, Delivery.LANE)
    for fault in (
        "kill",
        "freeze_task",
        "end_epoch",
        "deny",
        "restart_target",
        "record quarantined",
    ):
        assert happened[fault], fault


def test_a_lane_at_least_once_loses_nothing_and_keeps_the_order_of_each_task() -> None:
    happened = hold(scenarios.EVERYTHING, _SEEDS, Delivery.LANE_AT_LEAST_ONCE)
    assert happened["kill"]
    assert happened["record quarantined"]


def test_what_the_target_loses_under_exactly_once_is_copied_again_once() -> None:
    assert hold(scenarios.TARGET_LOSES, delivery=Delivery.EXACTLY_ONCE)["TARGET_LOST"]


def test_kills_lost_answers_and_leader_moves_double_nothing_under_exactly_once() -> None:
    assert hold(scenarios.RESTARTS, delivery=Delivery.EXACTLY_ONCE)["kill"]


def test_a_task_that_dies_under_a_living_driver_is_replaced_without_a_double() -> None:
    assert hold(scenarios.TASK_DIES)["kill_task"]


def test_a_task_that_outlives_its_driver_until_its_leases_lapse_doubles_nothing() -> None:
    assert hold(scenarios.DRIVER_DIES)["records of a task without a driver"]


def test_what_a_frozen_task_sends_when_it_wakes_doubles_nothing() -> None:
    assert hold(scenarios.FREEZES)["freeze_task"]


def test_epochs_that_end_in_order_hand_on_where_they_stand() -> None:
    happened = hold(scenarios.EPOCHS)
    assert happened["end_epoch"]
    assert happened["introduction delayed"]


def test_nothing_is_lost_or_doubled_by_lost_answers_late_requests_kills_and_leader_moves() -> None:
    happened = hold(scenarios.RESTARTS)
    assert happened["kill"]
    assert happened["late request appended"]


def test_what_retention_deletes_while_the_target_refuses_is_logged_and_all_else_is_copied() -> None:
    happened = hold(scenarios.REFUSED_AND_OVERTAKEN)
    assert happened["deny"]
    assert happened["OVERTAKEN"]


def test_late_requests_that_land_after_a_successors_look_hide_no_record_when_retention_overtakes() -> (
    None
):
    happened = hold(scenarios.KILLED_REFUSED_AND_OVERTAKEN)
    assert happened["late request appended"]
    assert happened["OVERTAKEN"]


def test_a_log_start_between_the_snapshot_and_what_was_read_stops_no_partition() -> None:
    happened = hold(scenarios.KILLED_AND_OVERTAKEN, 60)
    assert happened["kill"]
    assert happened["log start within what has landed"]


def test_a_quarantined_record_shifts_no_numbers_of_records_whose_fate_is_unknown() -> None:
    happened = hold(scenarios.QUARANTINE)
    assert happened["record quarantined"]
    assert happened["late request appended"]


def test_batches_cut_to_a_lowered_limit_are_the_same_records() -> None:
    assert hold(scenarios.LIMIT)["limit_size"]


def test_all_records_of_a_source_truncated_around_a_crash_are_on_the_target() -> None:
    happened = hold(scenarios.SOURCE_TRUNCATES)
    assert happened["TRUNCATED"]
    assert happened["kill"]


def test_what_the_target_loses_is_copied_again() -> None:
    assert hold(scenarios.TARGET_LOSES)["TARGET_LOST"]


def test_what_the_target_loses_around_a_kill_is_copied_again_or_logged() -> None:
    happened = hold(scenarios.TARGET_LOSES_AND_KILLS)
    assert happened["TARGET_LOST"]
    assert happened["kill"]


def test_a_producer_id_that_expires_on_an_idle_partition_changes_nothing() -> None:
    assert hold(scenarios.EXPIRY)["producers expired"]


def test_a_target_that_forgets_producers_of_old_records_when_it_restarts_doubles_nothing() -> None:
    assert hold(scenarios.TARGET_RESTARTS)["restart_target"]


def test_a_state_topic_that_is_away_while_a_producer_id_is_introduced_doubles_nothing() -> None:
    happened = hold(scenarios.STATE_AWAY)
    assert happened["introduction delayed"]
    assert happened["kill"]


def test_a_change_of_isolation_level_at_a_restart_loses_no_committed_record() -> None:
    happened = hold(scenarios.ISOLATION)
    assert happened["isolation changed"]
    assert happened["fallback"]


def test_compaction_between_two_looks_loses_no_record_that_is_left() -> None:
    happened = hold(scenarios.COMPACTION)
    assert happened["compact_source"]
    assert happened["write_to_target"]


def test_a_target_that_has_deleted_what_it_had_loses_no_record_to_come() -> None:
    assert hold(scenarios.TARGET_RETENTION)["delete_from_target"]
