"""What a copy remembers of the offsets topic."""

from __future__ import annotations

from heliograph.copy.state.stored_offset import StoredOffset


def test_the_offset_that_is_stored_for_sure_is_never_forgotten() -> None:
    offset = StoredOffset(0, (-1,))
    offset.mark(10)
    offset.confirm(10)
    for position in range(20, 200, 10):
        offset.mark(position)

    assert offset.possible[0] == 10
    assert offset.possible[-1] == 190
    assert len(offset.possible) == 8


def test_what_was_stored_before_a_confirmed_offset_cannot_be_there_any_more() -> None:
    offset = StoredOffset(None, (5,))
    offset.mark(0)
    offset.mark(20)
    offset.confirm(0)

    assert offset.possible == (-1, 20), "position 0 is no record at all"
