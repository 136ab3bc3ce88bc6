from __future__ import annotations

import logging

import pytest

from heliograph.service.problems import Problems

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
            "flow a->b: ACLs: fine again, where there was: orders: refused; grant CREATE",
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
