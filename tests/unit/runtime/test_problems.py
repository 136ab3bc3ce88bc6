from __future__ import annotations

import logging

import pytest

from heliograph.errors import BrokerError, ConnectionLost
from heliograph.runtime.problems import Problems, is_passing, summed_up
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

TROUBLE = {"orders": "orders: refused; grant CREATE"}


def test_a_problem_is_said_when_it_appears_and_when_it_is_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    problems = Problems()

    for found in ({}, TROUBLE, TROUBLE, {}, {}):
        problems.update("flow a->b: ACLs", found)

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "flow a->b: ACLs: orders: refused; grant CREATE"),
        (
            "INFO",
            "flow a->b: ACLs: resolved: orders: refused; grant CREATE",
        ),
    ]


def test_a_problem_that_comes_back_is_said_again(caplog: pytest.LogCaptureFixture) -> None:
    problems = Problems()

    for found in (TROUBLE, {}, TROUBLE):
        problems.update("flow a->b: ACLs", found)

    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_what_one_area_finds_leaves_the_others_alone() -> None:
    problems = Problems()
    problems.update("flow a->b: ACLs", TROUBLE)
    problems.update("flow a->b: groups", {"": "cannot be reached"})
    problems.update("flow b->a: groups", {"": "cannot be reached"})

    problems.update("flow a->b: ACLs", {})

    assert problems.below("flow a->b") == {"flow a->b: groups": "cannot be reached"}
    assert problems.sentences() == [
        "flow a->b: groups: cannot be reached",
        "flow b->a: groups: cannot be reached",
    ]


def test_what_brokers_solve_within_seconds_is_shown_only_if_it_lasts() -> None:
    now = [0.0]
    problems = Problems(clock=lambda: now[0])
    problems.update("flow a->b: group a-mm2", {"": "NOT_COORDINATOR"}, passing=True)
    problems.update("flow a->b: ACLs", TROUBLE)

    assert problems.lasting() == ["flow a->b: ACLs: orders: refused; grant CREATE"]
    now[0] = 11.0
    assert problems.lasting() == [
        "flow a->b: group a-mm2: NOT_COORDINATOR",
        "flow a->b: ACLs: orders: refused; grant CREATE",
    ]


def test_the_same_trouble_with_many_is_summed_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    problems = Problems()
    found = {f"g{n:03}": f"us: group 'g{n:03}': its coordinator moves" for n in range(500)}

    for each in ({**found, "": "us cannot be reached"}, found, {}):
        problems.update("flow us->eu: groups", each)

    said = [record.message for record in caplog.records]
    assert said[:5] == [
        "flow us->eu: groups: us: group 'g000': its coordinator moves",
        "flow us->eu: groups: us: group 'g001': its coordinator moves",
        "flow us->eu: groups: us: group 'g002': its coordinator moves",
        "flow us->eu: groups: and 497 more like it: us: group '…': its coordinator moves",
        "flow us->eu: groups: us cannot be reached",
    ]
    assert len(said) == 10
    assert said[9].endswith("resolved: and 497 more like it: us: group '…': its coordinator moves")


def test_different_troubles_are_all_said() -> None:
    found = {"a": "a: refused", "b": "b: gone", "c": "c: refused", "d": "too long"}

    assert sorted(summed_up(found)) == ["a: refused", "b: gone", "c: refused", "too long"]


def test_a_problem_that_comes_back_in_a_new_term_is_said_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problems = Problems()
    problems.update("flow a->b: ACLs", TROUBLE)
    problems.forget("flow a->b")

    problems.update("flow a->b: ACLs", TROUBLE)

    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


ELECTIONS = [{"": f"group 'g': {name}; retrying"} for name in ("NOT_COORDINATOR", "LOADING")]


def elect(problems: Problems, clock: Clock, seconds: int) -> None:
    """Brokers answer now with this error, now with that, every half second."""
    for number in range(2 * seconds):
        problems.update("group g", ELECTIONS[number % 2], passing=True)
        clock.now += 0.5


def test_an_election_that_passes_within_10_s_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    problems = Problems(clock := Clock())

    for _ in range(3):
        elect(problems, clock, 9)
        problems.update("group g", {})

    assert caplog.messages == []


def test_an_election_that_lasts_is_one_line_and_one_when_it_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    problems = Problems(clock := Clock())

    elect(problems, clock, 60)
    assert problems.sentences() == ["group g: group 'g': LOADING; retrying"]
    problems.update("group g", {})

    assert caplog.messages == [
        "group g: group 'g': NOT_COORDINATOR; retrying (for 10 s)",
        "group g: resolved: group 'g': LOADING; retrying",
    ]


def test_another_problem_after_an_election_is_logged_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problems = Problems(clock := Clock())

    elect(problems, clock, 2)
    problems.update("group g", {"": "no permission"})

    assert caplog.messages == ["group g: no permission"]


@pytest.mark.parametrize(
    ("code", "passing"),
    [
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, True),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, True),
        (ErrorCode.NOT_COORDINATOR, True),
        (ErrorCode.LEADER_NOT_AVAILABLE, True),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, False),
    ],
)
def test_what_brokers_answer_while_they_elect_passes(code: int, passing: bool) -> None:
    error = messages.broker_error(code, "group 'g'")

    assert isinstance(error, BrokerError)
    assert is_passing(error) == passing
    assert not is_passing(ConnectionLost("gone"))


def test_the_stack_of_an_unexpected_failure_is_logged_once_and_each_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    now = [0.0]
    problems = Problems(clock=lambda: now[0])

    for second in range(60):
        now[0] = float(second)
        problems.unexpected("page", ValueError("no such flow"), "the copy goes on")

    sentence = "unexpected failure: ValueError: no such flow; the copy goes on"
    assert [(record.message, bool(record.exc_info)) for record in caplog.records] == [
        ("page: stack of the unexpected failure", True),
        (f"page: {sentence}", False),
    ]
    assert problems.unexpected_counts() == {"page": 60}
    assert problems.of_flow("a->b") == {"page": sentence}
    problems.update("page", {})
    assert caplog.records[-1].message == f"page: resolved: {sentence}"
    assert problems.of_flow("a->b") == {}


def test_the_stack_of_another_failure_and_of_one_that_lasts_is_logged_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    problems = Problems(clock=lambda: now[0])

    problems.unexpected("page", ValueError("one"))
    problems.unexpected("page", KeyError("another"))
    now[0] = 600.0
    problems.unexpected("page", KeyError("another"))

    assert sum(record.exc_info is not None for record in caplog.records) == 3


def test_the_problems_of_a_flows_status_are_its_own_and_those_of_the_service() -> None:
    problems = Problems()
    for area in ("flow a->b: ACLs", "flow b->a: ACLs", "metrics listener", "states of partitions"):
        problems.update(area, {"": "x"})

    assert set(problems.of_flow("a->b")) == {
        "flow a->b: ACLs",
        "metrics listener",
        "states of partitions",
    }
