from __future__ import annotations

import pytest

from heliograph.plan.commits import CommitPolicy

POLL = CommitPolicy(interval_seconds=None, limit_seconds=20.0)
INTERVAL = CommitPolicy(interval_seconds=15.0, limit_seconds=20.0)


def due(policy: CommitPolicy, **changes: float) -> float:
    times = {"opened": 100.0, "written": 100.0, "ended": 99.9, "took": 0.005, "behind": False}
    return policy.due(**{**times, **changes})  # type: ignore[arg-type]


def test_what_comes_after_a_pause_is_committed_at_once() -> None:
    assert due(POLL, ended=50.0) < 100.0


@pytest.mark.parametrize("took", [0.001, 0.003, 0.005])
def test_commits_take_a_twentieth_of_the_time_and_a_hundredth_while_there_is_a_backlog(
    took: float,
) -> None:
    rest = due(POLL, took=took) - 99.9
    behind = due(POLL, took=took, behind=True) - 99.9

    assert took / (took + rest) == pytest.approx(0.05)
    assert took / (took + behind) == pytest.approx(0.01)


def test_readers_of_a_mirror_that_keeps_up_wait_for_a_tenth_of_a_second_at_most() -> None:
    assert due(POLL, took=1.0) == pytest.approx(100.0)
    assert due(POLL, took=1.0, behind=True) == pytest.approx(100.9)


def test_an_interval_counts_from_commit_to_commit() -> None:
    assert due(INTERVAL, written=114.0) == pytest.approx(114.9)


def test_when_data_stops_the_transaction_is_not_kept_open_for_the_interval() -> None:
    assert due(INTERVAL, written=102.0) == pytest.approx(110.0)
    assert due(INTERVAL, written=109.5) == pytest.approx(110.5)


@pytest.mark.parametrize(
    "policy", [POLL, INTERVAL, CommitPolicy(interval_seconds=900.0, limit_seconds=20.0)]
)
@pytest.mark.parametrize("behind", [False, True])
def test_no_transaction_is_open_for_longer_than_the_limit(
    policy: CommitPolicy, behind: bool
) -> None:
    assert due(policy, written=1000.0, ended=150.0, took=60.0, behind=behind) <= 120.0
