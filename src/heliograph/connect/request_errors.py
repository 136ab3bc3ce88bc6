"""Errors that both herders raise for a request: timeouts, a connector that is not stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heliograph.connect.herder import Rebalancing, RequestTimeout
from heliograph.errors import ClientError

_STOPPED_SECONDS = 20.0


@contextmanager
def request_errors() -> Iterator[None]:
    """Turns ClientError into RequestTimeout (HTTP 500)."""
    try:
        yield
    except ClientError as e:
        raise RequestTimeout(f"Request timed out: {e}") from e


def await_stopped(name: str, busy: Callable[[], bool]) -> None:
    """Waits until a stopped connector has no running work; raises Rebalancing after 20 s."""
    deadline = time.monotonic() + _STOPPED_SECONDS
    while busy():
        if time.monotonic() > deadline:
            raise Rebalancing(f"connector {name} is still stopping; try again")
        time.sleep(0.05)


def must_be_stopped(name: str) -> str:
    return (
        "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for "
        f"the specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
    )
