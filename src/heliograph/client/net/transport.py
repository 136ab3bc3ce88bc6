"""The byte stream of a connection: a socket that never blocks, without TLS here, with it in `tls.py`."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Protocol

from heliograph.errors import ConnectionLost

_RECEIVE_BUFFER_BYTES = 4 << 20


class Transport(Protocol):
    """`receive` and `send` return the number of bytes, or None where they would have to wait; 0 from
    `receive` is the end of the stream. A broken connection raises OSError, or ClientError with a reason."""

    @property
    def wants_write(self) -> bool:
        """Whether reading has to wait until something can be written."""
        ...

    @property
    def certificate_ends(self) -> float | None:
        """When the broker's certificate expires, in seconds since 1970; None: there is none."""
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
    certificate_ends = None

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


def connect(host: str, port: int, timeout: float) -> socket.socket:
    """A socket that does not block. Raises ConnectionLost."""
    try:
        connection = socket.create_connection((host, port), timeout)
    except OSError as e:
        raise ConnectionLost(f"{host}:{port}: cannot connect: {e.strerror or e}") from e
    except (ValueError, OverflowError) as e:  # a broker advertises an impossible name or port
        raise ConnectionLost(f"{host!r}:{port}: cannot connect: {e}") from e
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
    connection.setblocking(False)
    return connection
