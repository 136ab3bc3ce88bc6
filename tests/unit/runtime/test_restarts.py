from __future__ import annotations

from heliograph.runtime.restarts import Restarts


def test_the_first_restart_follows_at_once_and_later_ones_after_longer_and_longer() -> None:
    restarts = Restarts()

    delays = [restarts.next(ran_seconds=1, copied=False) for _ in range(12)]

    assert delays[0] < 0.2
    assert delays[-1] > 20
    assert restarts.count == 12


def test_a_copy_that_was_well_for_a_while_starts_again_at_once() -> None:
    restarts = Restarts()
    for _ in range(10):
        restarts.next(ran_seconds=1, copied=False)

    assert restarts.next(ran_seconds=60, copied=False) < 0.2


def test_a_copy_that_gets_on_between_failures_starts_again_at_once() -> None:
    """Workers that are killed one after the other are no reason to wait."""
    restarts = Restarts()

    delays = [restarts.next(ran_seconds=1, copied=True) for _ in range(12)]

    assert max(delays) < 0.2


def test_a_bounded_run_gives_up_after_its_third_failure_and_a_service_never() -> None:
    restarts = Restarts()
    ends = []
    for _ in range(3):
        restarts.next(ran_seconds=1, copied=False)
        ends.append(restarts.gives_up(once=True, retriable=True, copied=False))

    assert ends == [False, False, True]
    assert not restarts.gives_up(once=False, retriable=True, copied=False)


def test_tasks_that_can_never_run_are_not_started_again() -> None:
    """As on a Java that cannot load a class of Spark's. After records were copied it may be one machine."""
    restarts = Restarts()
    restarts.next(ran_seconds=1, copied=False)

    assert restarts.gives_up(once=False, retriable=False, copied=False)
    assert not restarts.gives_up(once=False, retriable=False, copied=True)
