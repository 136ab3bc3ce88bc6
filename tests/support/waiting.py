"""Wait for something that others bring about, and say how things stood when it did not come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

State = TypeVar("State")

_LOOK_SECONDS = 0.03


def eventually(
    look: Callable[[], State], until: Callable[[State], bool], *, within: float = 30.0
) -> State:
    """The first state that `look` finds and `until` accepts; fails with the last one seen."""
    deadline = time.monotonic() + within
    while not until(state := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s; last seen: {state!r}")
        time.sleep(_LOOK_SECONDS)
    return state
