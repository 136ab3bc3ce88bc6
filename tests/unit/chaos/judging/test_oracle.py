"""The arithmetic of the oracle, whose errors would go unnoticed otherwise."""

from __future__ import annotations

from chaos.judging.oracle import (
    Allowed,
    Difference,
    Entry,
    all_of,
    compare,
    find,
    identity_of,
    missing_at_source,
    spans,
)


def _log(*sequences: int, first_offset: int = 0) -> list[Entry]:
    return [
        Entry(sequence, sequence * 7, offset)
        for offset, sequence in enumerate(sequences, start=first_offset)
    ]


def test_equal_logs_have_no_difference() -> None:
    assert compare(_log(0, 1, 5), _log(0, 1, 5)).none


def test_a_record_that_is_missing_is_lost_wherever_it_stood() -> None:
    assert compare(_log(0, 1, 2, 3), _log(1, 2)) == Difference(lost=2)


def test_every_further_copy_of_a_record_is_doubled_and_not_out_of_order() -> None:
    assert compare(_log(0, 1, 2), _log(0, 1, 0, 1, 1, 2)) == Difference(doubled=3)


def test_a_record_after_one_that_follows_it_upstream_is_out_of_order() -> None:
    assert compare(_log(0, 1, 2, 3), _log(0, 3, 1, 2)) == Difference(disordered=2)


def test_a_record_with_another_content_is_altered() -> None:
    assert compare(_log(0, 1), [*_log(0), Entry(1, 999)]) == Difference(altered=1)


def test_a_record_that_was_never_committed_upstream_is_foreign() -> None:
    assert compare(_log(0, 2), _log(0, 1, 2, -1)) == Difference(foreign=2)


def test_a_source_that_lost_what_it_had_acknowledged_is_noticed() -> None:
    log = {("t", 0): _log(0, 1, 3)}

    assert missing_at_source(log, {("t", 0): [range(2), range(3, 4)]}) == 0
    assert missing_at_source(log, {("t", 0): [range(6)]}) == 3


def test_a_record_that_the_source_has_no_more_is_withdrawn_where_that_is_allowed() -> None:
    allowed = Allowed(withdrawn={1, 7})

    assert compare(_log(0, 2), _log(0, 1, 2, 7, 8), allowed) == Difference(withdrawn=2, foreign=1)


def test_a_withdrawn_record_is_out_of_order_nowhere_and_doubled_when_it_comes_twice() -> None:
    allowed = Allowed(withdrawn={7})

    assert compare(_log(0, 1), _log(7, 0, 7, 1), allowed) == Difference(withdrawn=1, doubled=1)


def test_what_a_writer_may_have_written_is_all_of_its_identities_and_no_others() -> None:
    assert identity_of(2, 5) in all_of(2)
    assert identity_of(1, 5) not in all_of(2)
    assert -1 not in all_of(0)


def test_a_missing_record_is_passed_over_if_its_source_offset_is_allowed_to_be_missing() -> None:
    source = _log(0, 1, 2, 3, first_offset=100)
    allowed = Allowed(missing=[range(101, 102), range(103, 110)])

    assert compare(source, _log(0), allowed) == Difference(passed_over=2, lost=1)


def test_a_doubled_record_is_copied_again_if_its_source_offset_is_allowed_to_be_doubled() -> None:
    source = _log(0, 1, 2, first_offset=100)
    allowed = Allowed(doubled=[range(101, 103)])

    assert compare(source, _log(0, 1, 2, 0, 1, 2), allowed) == Difference(copied_again=2, doubled=1)


def test_a_record_that_the_target_lost_must_have_been_reported_even_if_it_is_there_again() -> None:
    source = _log(0, 1, 2, first_offset=100)
    allowed = Allowed(target_lost=[1, 2], reported=[range(100, 102)])

    assert compare(source, _log(0, 1, 2), allowed) == Difference(unreported=1)


def test_what_differs_is_found_by_its_source_offset_and_what_is_foreign_by_the_targets() -> None:
    found = find(_log(0, 1, 2, first_offset=100), _log(9, 0, 0, 2))

    assert (found["lost"], found["doubled"], found["foreign"]) == ([101], [100], [0])


def test_offsets_are_told_as_runs() -> None:
    assert spans([3, 4, 9, 5, 4]) == [[3, 5], [9, 9]]
    assert spans([]) == []
