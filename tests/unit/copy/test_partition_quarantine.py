"""Records that are too large for the target: where the copy goes on, and when."""

from __future__ import annotations

from heliograph.copy.prepare_batches import Prepared
from heliograph.copy.state.phases import Command
from heliograph.mm2.quarantine import Oversize
from support.flows.partitions import ME, batch, copying

TOO_LARGE = Oversize(offset=100, timestamp=0, key=None, size=9, limit=5)


def test_a_record_too_large_is_quarantined_once_all_before_it_is_acknowledged() -> None:
    copy = copying()
    prepared = Prepared([first := batch(100)], 106, oversize=[TOO_LARGE])
    copy.fetched(prepared)
    assert copy.command is Command.WAIT

    copy.acknowledged(first, 0, wall=1.0)
    assert copy.command is Command.QUARANTINE
    copy.quarantine()
    assert copy.command is Command.WAIT
    copy.pass_held()

    assert (copy.position, copy.acked, copy.quarantined) == (106, 106, 1)
    assert copy.numbers.retired == ME, "a successor must not count the record that was left out"


def test_a_copy_that_goes_back_does_not_jump_behind_a_record_that_was_held() -> None:
    """The target had lost records before it: they were reported as to be copied again, and passed over
    (simulation: everything 198)."""
    copy = copying()
    copy.fetched(Prepared([], 106, oversize=[TOO_LARGE]))
    copy.renumber(90)
    assert copy.held is None


def test_coordinates_under_way_when_a_copy_goes_elsewhere_move_it_no_more() -> None:
    copy = copying()
    copy.fetched(Prepared([], 106, oversize=[TOO_LARGE]))
    copy.quarantine()
    copy.renumber(90)
    copy.introduce(ME)
    copy.recovered()
    copy.fetched(Prepared([], 106, oversize=[TOO_LARGE]))
    assert copy.command is Command.WAIT, "the first coordinates are still under way"

    assert copy.pass_held() is None
    assert (copy.position, copy.quarantined, copy.command) == (90, 0, Command.QUARANTINE)


def test_a_refused_quarantine_is_met_again() -> None:
    copy = copying()
    copy.fetched(Prepared([], 101, oversize=[TOO_LARGE]))
    copy.quarantine()
    copy.refuse_held()

    assert (copy.held, copy.position, copy.command) == (None, 100, Command.FETCH)
