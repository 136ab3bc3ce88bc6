"""How far a copy is behind, in seconds."""

from __future__ import annotations

from heliograph.cli.live.lag_time import Behind, LagClock
from heliograph.model import PartitionState, Receipt

KEY = ("us->eu", "t")


def receipt(position: int, end: int, partition: int = 0) -> Receipt:
    return Receipt(
        flow="us->eu",
        topic="t",
        partition=partition,
        position=position,
        records=0,
        bytes=0,
        source_end=end,
        stored=True,
        state=PartitionState.RUNNING,
    )


def test_a_copy_at_the_end_is_not_behind() -> None:
    assert LagClock().look(0.0, [receipt(100, 100)]) == {KEY: Behind(0.0)}


def test_it_is_behind_since_the_end_passed_its_position() -> None:
    clock = LagClock()
    clock.look(0.0, [receipt(100, 100)])
    clock.look(10.0, [receipt(100, 140)])
    clock.look(20.0, [receipt(100, 200)])

    assert clock.look(30.0, [receipt(100, 200)])[KEY] == Behind(20.0)
    assert clock.look(30.0, [receipt(150, 200)])[KEY] == Behind(10.0)
    assert clock.look(40.0, [receipt(200, 200)])[KEY] == Behind(0.0)


def test_records_that_were_there_before_are_older_than_can_be_told() -> None:
    clock = LagClock()
    clock.look(0.0, [receipt(0, 100)])

    assert clock.look(7.0, [receipt(50, 100)])[KEY] == Behind(7.0, at_least=True)
    assert clock.look(8.0, [receipt(100, 120)])[KEY] == Behind(0.0)


def test_the_partition_that_is_furthest_behind_counts() -> None:
    clock = LagClock()
    clock.look(0.0, [receipt(0, 0), receipt(0, 0, partition=1)])
    clock.look(1.0, [receipt(0, 5), receipt(0, 0, partition=1)])

    assert clock.look(4.0, [receipt(0, 5), receipt(0, 5, partition=1)])[KEY] == Behind(3.0)


def test_an_unknown_end_is_unknown_lag() -> None:
    assert LagClock().look(0.0, [receipt(0, -1)]) == {}
