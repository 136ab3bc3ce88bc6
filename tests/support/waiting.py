"""Wait for something that others bring about, and say how things stood when it did not come.

Tests say what happens, not how soon: `make chaos` and `make bench` measure time. So there is one limit for
all that is waited for, which only a test that fails reaches, however busy the machine is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

State = TypeVar("State")

#: Less than pytest's own limit, which would not say how things stood.
PATIENCE_SECONDS = 240.0
#: Between two looks: a tenth of the time already waited, within these limits. A look at a cluster costs
#: milliseconds of this process and of its brokers, which the mirror that is waited for could use.
_LOOK_SECONDS = (0.03, 0.15)
_SHOWN = 2000


def eventually(look: Callable[[], State], until: Callable[[State], bool]) -> State:
    """The first state that `look` finds and `until` accepts; fails with the last one seen."""
    begin = time.monotonic()
    while not until(state := look()):
        waited = time.monotonic() - begin
        if waited > PATIENCE_SECONDS:
            raise AssertionError(f"not within {PATIENCE_SECONDS:g} s; last seen: {_shown(state)}")
        least, most = _LOOK_SECONDS
        time.sleep(min(max(least, waited / 10), most))
    return state


def stays(look: Callable[[], State], wanted: Callable[[State], bool], *, seconds: float) -> None:
    """Fails with the first state in this time that is not `wanted`."""
    end = time.monotonic() + seconds
    while True:
        state = look()
        assert wanted(state), _shown(state)
        if time.monotonic() > end:
            return
        time.sleep(_LOOK_SECONDS[0])


def _shown(state: object) -> str:
    text = repr(state)
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"
