"""Turns well-formed responses that do not match their request into MalformedResponse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from heliograph.errors import MalformedResponse

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def only(answers: Sequence[Answer], subject: str) -> Answer:
    """The single entry of a response."""
    if len(answers) != 1:
        raise MalformedResponse(f"{subject}: expected one answer, found {len(answers)}")
    return answers[0]


def pairs(
    asked: Sequence[Asked], answers: Sequence[Answer], subject: str
) -> Iterable[tuple[Asked, Answer]]:
    """Each requested entry with its answer, where only their order connects them."""
    if len(asked) != len(answers):
        raise MalformedResponse(f"{subject}: expected {len(asked)} answers, found {len(answers)}")
    return zip(asked, answers, strict=True)
