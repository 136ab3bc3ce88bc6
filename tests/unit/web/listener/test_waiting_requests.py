"""Requests that wait for a starting worker leave the others alone."""

from __future__ import annotations

import threading

from support.rest.listening import connected, get, head, serving
from support.rest.memory_herder import MemoryHerder
from support.waiting import PATIENCE_SECONDS, eventually

#: More than the threads that anyio has by default (40).
_WAITING = 60


class Starting(MemoryHerder):
    """Its answers wait until the worker has started."""

    def __init__(self) -> None:
        super().__init__()
        self.started = threading.Event()
        self.waiting = 0
        self._lock = threading.Lock()

    def connectors(self) -> list[str]:
        with self._lock:
            self.waiting += 1
        assert self.started.wait(PATIENCE_SECONDS)
        return super().connectors()


def test_any_number_of_requests_that_wait_for_the_worker_does_not_delay_health() -> None:
    herder = Starting()
    with serving(herder=herder) as server, connected(server.port, _WAITING) as connections:
        for each in connections:
            each.sendall(head("GET", "/connectors"))
        eventually(lambda: herder.waiting, lambda count: count == _WAITING)

        assert get(server.port, "/health") == 200

        herder.started.set()
        assert all(each.recv(12) == b"HTTP/1.1 200" for each in connections)
