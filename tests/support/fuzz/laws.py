"""What holds of every parser, whatever its input: an error of ours or a result, soon, in bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

from hypothesis import settings

from heliograph.errors import HeliographError

T = TypeVar("T")

_USUAL_EXAMPLES = 100

#: Python's objects are large: a record of 7 bytes becomes some 400, a header of 2 bytes some 150.
_BYTES_PER_BYTE = 200
_BYTES_ANYWAY = 2 << 20
#: Of this thread's CPU, so that a loaded machine is no failure.
_SECONDS = 2.0


def at_most(examples: int) -> settings:
    """For slow tests: so many examples in CI; a search (see tests/conftest.py) tries more of them, too."""
    return settings(max_examples=examples * settings().max_examples // _USUAL_EXAMPLES)


def survives(
    parse: Callable[[], T],
    size: int,
    *,
    per_byte: int = _BYTES_PER_BYTE,
    anyway: int = _BYTES_ANYWAY,
) -> T | HeliographError:
    """What `parse` returns or its error, if that is one of ours; any other error passes through.

    Fails if it takes long, or more memory than input of `size` bytes can justify. `parse` may be called
    twice: threads that other tests have left, and what Python imports and caches at a first call, count,
    too, so that only what a second call takes as well is its own.
    """
    most = anyway + per_byte * size
    outcome, peak = _measured(parse, size)
    if peak > most:
        outcome, peak = _measured(parse, size)
    assert peak <= most, f"{peak} bytes of memory for {size} bytes"
    return outcome


def _measured(parse: Callable[[], T], size: int) -> tuple[T | HeliographError, int]:
    """The outcome, and the peak of memory."""
    tracemalloc.start()
    before = time.thread_time()
    try:
        outcome: T | HeliographError = parse()
    except HeliographError as error:
        outcome = error
    finally:
        taken = time.thread_time() - before
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert taken < _SECONDS, f"{taken:.1f} s for {size} bytes"
    return outcome, peak
