"""The bytes of a connection: a socket that never blocks, bare or under TLS (`tls.py`)."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Protocol


class Transport(Protocol):
    """`receive` and `send` return the number of bytes, or None where they would have to wait; a `receive`
    of 0 is the end. What breaks raises OSError, or ClientError with a reason."""

    @property
    def wants_write(self) -> bool:
        """Whether reading has to wait until something can be written."""
        ...

    def receive(self, buffer: memoryview) -> int | None: ...

    def send(self, pieces: Sequence[memoryview]) -> int | None:
        """After None, the same pieces come first in the next call."""
        ...

    def fileno(self) -> int: ...

    def close(self) -> None: ...


class BareTransport:
    """Without TLS."""

    wants_write = False

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.fileno = connected.fileno
        self.close = connected.close

    def receive(self, buffer: memoryview) -> int | None:
        try:
            return self._socket.recv_into(buffer)
        except BlockingIOError:
            return None

    def send(self, pieces: Sequence[memoryview]) -> int | None:
        try:
            return self._socket.sendmsg(pieces)
        except BlockingIOError:
            return None
