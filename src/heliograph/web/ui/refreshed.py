"""A value that is read from a cluster or a herder while somebody looks, on a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from heliograph.errors import HeliographError

log = logging.getLogger(__name__)

#: The next read begins after so many times the CPU time of the last: half a percent of a core at most.
_LEAST_REST = 200.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[T]):
    """`value` None: not read yet. `failure`: why the last attempt failed; `value` is older then.
    `number` counts attempts."""

    value: T | None = None
    at_ms: int = 0
    failure: str | None = None
    number: int = 0


class Refreshed(Generic[T]):
    """One read at a time, and only after a request."""

    def __init__(
        self,
        name: str,
        read: Callable[[], T],
        *,
        fresh_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._read = read
        self._fresh_seconds = fresh_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._reading: Reading[T] = Reading()
        self._due = float("-inf")
        self._idle = threading.Event()
        self._idle.set()

    def current(self, *, wait: float = 0.0) -> Reading[T]:
        """The last reading; begins another if it is old. `wait`: seconds to wait for the first one."""
        self._begin_if_due()
        if self._reading.number == 0 and wait:
            self._idle.wait(wait)
        return self._reading

    def expire(self) -> None:
        """Something has changed: the next caller begins another read."""
        with self._lock:
            self._due = float("-inf")

    def _begin_if_due(self) -> None:
        with self._lock:
            if not self._idle.is_set() or self._clock() < self._due:
                return
            self._idle.clear()
        threading.Thread(target=self._refresh, name=f"page: {self._name}", daemon=True).start()

    def _refresh(self) -> None:
        before, cpu = self._reading, time.thread_time()
        again = replace(before, number=before.number + 1)
        try:
            value = self._read()
            self._reading = replace(again, value=value, at_ms=_now_ms(), failure=None)
        except HeliographError as e:
            self._reading = replace(again, failure=str(e))
        except Exception as e:
            failure = f"{type(e).__name__}: see the log"
            if before.failure != failure:  # a page asks again and again
                log.exception("page: %s cannot be read", self._name)
            self._reading = replace(again, failure=failure)
        with self._lock:
            spent = _LEAST_REST * (time.thread_time() - cpu)
            self._due = self._clock() + max(self._fresh_seconds, spent)
        self._idle.set()


def _now_ms() -> int:
    return int(time.time() * 1000)
