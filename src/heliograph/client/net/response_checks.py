"""Answers in good shape that are no answers to what was asked: errors of ours, like bytes out of shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from heliograph.errors import MalformedResponse

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def only(answers: Sequence[Answer], subject: str) -> Answer:
    """The answer to a question that has one."""
    if len(answers) != 1:
        raise MalformedResponse(f"{subject}: expected one answer, found {len(answers)}")
    return answers[0]


def pairs(
    asked: Sequence[Asked], answers: Sequence[Answer], subject: str
) -> Iterable[tuple[Asked, Answer]]:
    """Each question with its answer, where they have nothing but their order in common."""
    if len(asked) != len(answers):
        raise MalformedResponse(f"{subject}: expected {len(asked)} answers, found {len(answers)}")
    return zip(asked, answers, strict=True)
