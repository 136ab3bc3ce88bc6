"""The arithmetic of the oracle: a verdict that nobody would notice to be wrong."""

from __future__ import annotations

from chaos.oracle import Difference, Entry, compare, missing_at_source


def _log(*sequences: int, content: int = 0) -> list[Entry]:
    return [(sequence, content or sequence * 7) for sequence in sequences]


def test_equal_logs_have_no_difference() -> None:
    assert compare(_log(0, 1, 5), _log(0, 1, 5)).none


def test_a_record_that_is_missing_is_lost_wherever_it_stood() -> None:
    assert compare(_log(0, 1, 2, 3), _log(1, 2)) == Difference(lost=2)


def test_every_further_copy_of_a_record_is_doubled_and_not_out_of_order() -> None:
    assert compare(_log(0, 1, 2), _log(0, 1, 0, 1, 1, 2)) == Difference(doubled=3)


def test_a_record_after_one_that_follows_it_upstream_is_out_of_order() -> None:
    assert compare(_log(0, 1, 2, 3), _log(0, 3, 1, 2)) == Difference(disordered=2)


def test_a_record_with_another_content_is_altered() -> None:
    assert compare(_log(0, 1), [*_log(0), (1, 999)]) == Difference(altered=1)


def test_a_record_that_was_never_committed_upstream_is_foreign() -> None:
    assert compare(_log(0, 2), _log(0, 1, 2, -1)) == Difference(foreign=2)


def test_a_source_that_lost_what_it_had_acknowledged_is_noticed() -> None:
    log = {("t", 0): _log(0, 1, 3)}

    assert missing_at_source(log, {("t", 0): [range(2), range(3, 4)]}) == 0
    assert missing_at_source(log, {("t", 0): [range(6)]}) == 3
