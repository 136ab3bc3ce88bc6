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
