"""The proxy's faults as a client and a server notice them, with plain sockets."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from chaos.clusters.proxy import Direction, Gate, Proxy
from support.waiting import PATIENCE_SECONDS

HOST = "127.0.0.1"


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that sends back what it gets."""
    server = socket.create_server((HOST, 0))

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(65536):
                connection.sendall(data)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


@pytest.fixture
def gate(echo: int) -> Iterator[Gate]:
    proxy = Proxy()
    gate = proxy.add_gates(1)[0]
    gate.upstream = echo
    yield gate
    proxy.close()


@contextlib.contextmanager
def _connected(gate: Gate) -> Iterator[socket.socket]:
    with socket.create_connection((HOST, gate.port), PATIENCE_SECONDS) as connection:
        yield connection


def _echoed(connection: socket.socket, text: bytes, within: float = PATIENCE_SECONDS) -> bytes:
    connection.settimeout(within)
    connection.sendall(text)
    return connection.recv(100)


def test_an_open_gate_carries_both_directions(gate: Gate) -> None:
    with _connected(gate) as connection:
        assert _echoed(connection, b"hello") == b"hello"


def test_a_cut_closes_connections_and_refuses_new_ones_until_healed(gate: Gate) -> None:
    with _connected(gate) as connection:
        assert _echoed(connection, b"hello") == b"hello"
        gate.cut()
        assert connection.recv(100) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, gate.port), PATIENCE_SECONDS)
    gate.heal()
    with _connected(gate) as connection:
        assert _echoed(connection, b"again") == b"again"


def test_a_reset_ends_connections_with_an_rst_and_welcomes_new_ones(gate: Gate) -> None:
    with _connected(gate) as connection:
        assert _echoed(connection, b"hello") == b"hello"
        gate.reset()
        with pytest.raises(ConnectionResetError):
            connection.recv(100)
    with _connected(gate) as connection:
        assert _echoed(connection, b"again") == b"again"


def test_a_stall_holds_bytes_and_releases_them_in_order(gate: Gate) -> None:
    with _connected(gate) as connection:
        assert _echoed(connection, b"hello") == b"hello"
        gate.stall()
        with pytest.raises(TimeoutError):
            _echoed(connection, b"held", within=0.3)
        connection.sendall(b" back")
        gate.heal()
        connection.settimeout(PATIENCE_SECONDS)
        got = b""
        while len(got) < 9:
            got += connection.recv(100)
        assert got == b"held back"


def test_a_delay_makes_every_byte_late(gate: Gate) -> None:
    gate.delay(0.2)
    with _connected(gate) as connection:
        began = time.monotonic()
        assert _echoed(connection, b"late") == b"late"
        assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize("direction", list(Direction))
def test_a_half_open_connection_never_works_again_while_new_ones_do(
    gate: Gate, direction: Direction
) -> None:
    with _connected(gate) as connection:
        assert _echoed(connection, b"hello") == b"hello"
        gate.half_open(direction)
        with pytest.raises(TimeoutError):
            _echoed(connection, b"lost", within=0.2)
        gate.heal()
        with pytest.raises(TimeoutError):
            _echoed(connection, b"lost too", within=0.2)
        with _connected(gate) as other:
            assert _echoed(other, b"new") == b"new"


def test_a_connection_in_the_very_moment_of_a_cut_ends_with_it(echo: int) -> None:
    """What were left of it unclosed, pytest would turn into an error."""
    proxy = Proxy()
    try:
        (gate,) = proxy.add_gates(1)
        gate.upstream = echo
        for _ in range(60):
            with contextlib.ExitStack() as clients:
                for _ in range(8):
                    client = clients.enter_context(socket.socket())
                    client.setblocking(False)
                    client.connect_ex((HOST, gate.port))
                gate.cut()
            gate.heal()
    finally:
        proxy.close()
    gc.collect()


def test_a_connection_that_has_not_reached_its_broker_ends_with_the_proxy() -> None:
    """As when a busy broker's queue is full."""
    with contextlib.ExitStack() as sockets:
        busy = sockets.enter_context(socket.create_server((HOST, 0), backlog=0))
        for _ in range(4):  # nobody accepts them
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(busy.getsockname())
        proxy = Proxy()
        (gate,) = proxy.add_gates(1)
        gate.upstream = busy.getsockname()[1]
        client = sockets.enter_context(
            socket.create_connection((HOST, gate.port), PATIENCE_SECONDS)
        )
        client.sendall(b"hello")
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(100)

        proxy.close()

        with contextlib.suppress(ConnectionResetError):
            assert client.recv(100) == b""
    gc.collect()
