"""Finds free ports for brokers.

Ports of the kernel's ephemeral range are avoided: a client that keeps connecting to a stopped broker's port
there can get connected to itself, and the broker can no longer bind its port. Each port is held by a bound
socket until just before the broker starts; another process that takes it after that shows as a failed bind.
"""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

from heliograph.embedded.properties import HOST

_LOWEST = 10_000
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 200


def ephemeral_start() -> int:
    """The first port that the kernel may use for an outgoing connection; IANA's if unknown."""
    try:
        return int(_EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError):
        return 49_152


class HeldPorts:
    """Ports that no other process can bind until the `with` block ends."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> HeldPorts:
        return self

    def __exit__(self, *_: object) -> None:
        for held in self._sockets:
            held.close()

    def take(self) -> int:
        """Another free port."""
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._sockets.append(held)
        end = ephemeral_start()
        for _ in range(_TRIES if end > _LOWEST else 0):
            with contextlib.suppress(OSError):
                held.bind((HOST, random.randrange(_LOWEST, end)))
                return int(held.getsockname()[1])
        held.bind((HOST, 0))
        return int(held.getsockname()[1])


def free_port() -> int:
    """A free port; another process may take it before the caller does."""
    with HeldPorts() as held:
        return held.take()
