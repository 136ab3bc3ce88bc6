"""A REST server with real sockets, over a herder in memory; raw bytes to it and from it."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.server import RestServer
from support.rest.memory_herder import MemoryHerder

#: How long a test waits for an event before it fails.
PATIENCE = 60.0


@contextmanager
def serving(
    settings: Mapping[str, str] | None = None,
    herder: MemoryHerder | None = None,
    limits: Limits | None = None,
) -> Iterator[RestServer]:
    levels = LoggerLevels(lambda: 0)
    config = read_rest_config({"listeners": "http://127.0.0.1:0", **(settings or {})}, {})
    server = RestServer(
        config, herder or MemoryHerder(), levels, levels.set, limits=limits or Limits()
    )
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def connected(port: int, count: int, host: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Connections that say nothing."""
    sockets = [socket.create_connection((host, port), timeout=PATIENCE) for _ in range(count)]
    try:
        yield sockets
    finally:
        for each in sockets:
            each.close()


def send(port: int, request: bytes, source: str = "127.0.0.1") -> tuple[int, Any]:
    """Status and JSON of the answer to these bytes, on a connection of its own."""
    with socket.create_connection(
        ("127.0.0.1", port), timeout=PATIENCE, source_address=(source, 0)
    ) as connection:
        connection.sendall(request)
        return answer(connection)


def get(port: int, path: str = "/connectors", source: str = "127.0.0.1", **headers: str) -> int:
    return send(port, head("GET", path, **headers), source)[0]


def head(method: str, path: str, **headers: str) -> bytes:
    """Of a request; names of headers with _ for -."""
    lines = {"Host": "localhost", **{n.replace("_", "-"): v for n, v in headers.items()}}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()


def answer(connection: socket.socket) -> tuple[int, Any]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection, received)
    top, _, body = received.partition(b"\r\n\r\n")
    lines = top.decode().lower().split("\r\n")
    length = next((int(x.split(":")[1]) for x in lines if x.startswith("content-length:")), 0)
    while len(body) < length:
        body += _more(connection, body)
    text = body[:length].decode()
    return int(lines[0].split()[1]), json.loads(text) if text.startswith(("{", "[")) else text


def _more(connection: socket.socket, so_far: bytes) -> bytes:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionError(f"closed after {so_far!r}")
    return chunk


def ends(connection: socket.socket) -> bool:
    """Waits until the server closes it; False if it has not done so in time."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
