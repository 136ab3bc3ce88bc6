from __future__ import annotations

import io

import pytest

from examples.support.protocol import Protocol, StoryFailed


def test_a_step_shows_its_command_what_is_seen_and_what_holds() -> None:
    out = io.StringIO()
    protocol = Protocol(out)

    protocol.step("list topics", "kafka-topics.sh --list")
    protocol.seen(["orders"])
    protocol.check("orders is there", ["orders"], ["orders"])

    assert out.getvalue().split("\n") == [
        "",
        " 1. list topics",
        "    $ kafka-topics.sh --list",
        "      orders",
        "    ok  orders is there",
        "",
    ]


def test_what_does_not_hold_ends_the_story_with_expected_and_found() -> None:
    protocol = Protocol(io.StringIO())
    protocol.step("count")

    with pytest.raises(StoryFailed, match="step 1: five records: expected 5, found 4"):
        protocol.check("five records", 4, 5)


def test_long_output_is_cut_and_the_rest_is_counted() -> None:
    out = io.StringIO()

    Protocol(out).seen(str(number) for number in range(20))

    assert out.getvalue().splitlines()[-1] == "      … 8 more lines"
