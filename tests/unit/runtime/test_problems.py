from __future__ import annotations

import logging

import pytest

from heliograph.runtime.problems import Problems, summed_up

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
