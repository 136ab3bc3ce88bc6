"""How long a request waits for its worker, and the errors that both herders raise for one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from heliograph.connect.herder import Rebalancing, RequestTimeout
from heliograph.errors import ClientError

Found = TypeVar("Found")

#: `RestServerConfig.DEFAULT_REST_REQUEST_TIMEOUT_MS`
REQUEST_SECONDS = 90.0
_STOPPED_SECONDS = 20.0
_LOOK_SECONDS = 0.05


@contextmanager
def request_errors() -> Iterator[None]:
    """Turns ClientError into RequestTimeout (HTTP 500)."""
    try:
        yield
    except ClientError as e:
        raise RequestTimeout(f"Request timed out: {e}") from e


def await_worker(
    find: Callable[[], Found | None],
    doing: Callable[[], str],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Found:
    """The first thing that `find` finds. A request waits while its worker starts or joins its group, as
    Connect's requests wait for the herder's thread. Raises RequestTimeout after 90 s, with what the worker is
    `doing`."""
    deadline = clock() + REQUEST_SECONDS
    while (found := find()) is None:
        if clock() >= deadline:
            raise RequestTimeout(f"Request timed out. The worker is currently {doing()}")
        sleep(_LOOK_SECONDS)
    return found


def await_stopped(name: str, busy: Callable[[], bool]) -> None:
    """Waits until a stopped connector has no running work; raises Rebalancing after 20 s."""
    deadline = time.monotonic() + _STOPPED_SECONDS
    while busy():
        if time.monotonic() > deadline:
            raise Rebalancing(f"connector {name} is still stopping; try again")
        time.sleep(_LOOK_SECONDS)


def must_be_stopped(name: str) -> str:
    return (
        "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for "
        f"the specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
    )
