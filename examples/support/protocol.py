"""Prints what a story does, as a reader would do it: step, command, what is seen, ok."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO, TypeVar

State = TypeVar("State")

#: Only a story that fails waits so long.
PATIENCE_SECONDS = 240.0
_LOOK_SECONDS = 0.2
_SHOWN_LINES = 12


class StoryFailed(Exception):
    """A reader of the document would not see what it promises."""


class Protocol:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._steps = 0
        self.checks = 0

    def title(self, text: str) -> None:
        self._steps = self.checks = 0
        self._print(f"\n{text}\n{'=' * len(text)}")

    def step(self, text: str, *commands: str) -> None:
        self._steps += 1
        self._print(f"\n{self._steps:2}. {text}")
        for command in commands:
            self._print(f"    $ {command}")

    def seen(self, lines: Iterable[str]) -> None:
        shown = [line for text in lines for line in text.splitlines()]
        for line in shown[:_SHOWN_LINES]:
            self._print(f"      {line}")
        if len(shown) > _SHOWN_LINES:
            self._print(f"      … {len(shown) - _SHOWN_LINES} more lines")

    def check(self, expectation: str, found: object, expected: object) -> None:
        """Raises StoryFailed unless both are equal."""
        self.holds(expectation, found == expected, f"expected {expected!r}, found {found!r}")

    def holds(self, expectation: str, fact: bool, otherwise: object) -> None:
        self.checks += 1
        if not fact:
            self._print(f"    FAILED  {expectation}: {otherwise}")
            raise StoryFailed(f"step {self._steps}: {expectation}: {otherwise}")
        self._print(f"    ok  {expectation}")

    def wait(
        self, expectation: str, look: Callable[[], State], until: Callable[[State], bool]
    ) -> State:
        """The first state that `until` accepts."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not until(state := look()):
            if time.monotonic() > deadline:
                self.holds(
                    expectation, False, f"not within {PATIENCE_SECONDS:g} s; seen: {state!r}"
                )
            time.sleep(_LOOK_SECONDS)
        self.holds(expectation, True, "")
        return state

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)
