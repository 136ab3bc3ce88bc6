"""Waits for several connections at once (poll, so that file descriptors may exceed 1023)."""

from __future__ import annotations

import select
from collections.abc import Iterable
from typing import Protocol


class Pollable(Protocol):
    def fileno(self) -> int: ...

    @property
    def wants_write(self) -> bool: ...


def wait(connections: Iterable[Pollable], timeout: float) -> None:
    """Returns when one can be read, or written if it has something to write, or after `timeout` seconds."""
    poller = select.poll()
    for connection in connections:
        events = select.POLLIN | (select.POLLOUT if connection.wants_write else 0)
        poller.register(connection.fileno(), events)
    poller.poll(max(timeout, 0) * 1000)
