from __future__ import annotations

from chaos.judging.tail import Pauses

ONE = ("t", 0)
TWO = ("t", 1)


def _longest(*looks: tuple[float, int, int]) -> float:
    pauses = Pauses()
    for now, source, target in looks:
        pauses.look(now, {ONE: source}, {ONE: target})
    return pauses.longest


def test_a_target_that_moves_pauses_no_longer_than_between_two_looks() -> None:
    assert _longest((0, 5, 1), (1, 6, 2), (2, 7, 3)) == 1


def test_a_target_that_stands_still_while_the_source_has_more_pauses() -> None:
    assert _longest((0, 5, 5), (1, 6, 5), (2, 7, 5), (5, 9, 5), (6, 9, 9)) == 6


def test_a_source_that_has_nothing_more_causes_no_pause() -> None:
    looks = [(float(now), 5, 5) for now in range(20)]

    assert _longest(*looks, (20, 6, 5), (21, 6, 6)) == 2


def test_each_partition_has_pauses_of_its_own() -> None:
    pauses = Pauses()
    for now in range(8):
        pauses.look(now, {ONE: 100, TWO: 100}, {ONE: now, TWO: 0})

    assert pauses.longest == 7
