"""Checks whether a broker is ready: one Metadata request on a plain socket.

Version 5 has no tagged fields, and every broker from 1.0 to 4.x supports it (KIP-896).

    request    size i32 | api key i16 = 3 | version i16 = 5 | correlation id i32 | client id STRING
               topics ARRAY = 0 (none) | allow auto topic creation BOOLEAN = 0
    response   size i32 | correlation id i32 | throttle time i32
               brokers ARRAY of (node id i32, host STRING, port i32, rack NULLABLE_STRING)
               cluster id NULLABLE_STRING | controller id i32 | topics ARRAY
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_CLIENT_ID = b"heliograph-ready"
_BODY = (
    struct.pack(">hhih", 3, 5, 1, len(_CLIENT_ID))  # api key, version, correlation id, length
    + _CLIENT_ID
    + struct.pack(">i?", 0, False)
)
_REQUEST = struct.pack(">i", len(_BODY)) + _BODY
_MAX_RESPONSE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster as one broker sees it."""

    cluster_id: str | None
    controller: int
    brokers: frozenset[int]


def ask(host: str, port: int, timeout_seconds: float) -> ClusterView | None:
    """The broker's view; None if there is no answer, or not one of Kafka's protocol."""
    try:
        with socket.create_connection((host, port), timeout_seconds) as connection:
            connection.sendall(_REQUEST)
            (size,) = struct.unpack(">i", _read(connection, 4))
            if not 0 < size <= _MAX_RESPONSE_BYTES:
                return None
            return parse_metadata(_read(connection, size))
    except (OSError, EOFError, struct.error):
        return None


def accepts_connections(host: str, port: int, timeout_seconds: float) -> bool:
    try:
        socket.create_connection((host, port), timeout_seconds).close()
    except OSError:
        return False
    return True


def parse_metadata(frame: bytes) -> ClusterView:
    """A Metadata v5 response without its size; struct.error if it is too short."""
    (count,) = struct.unpack_from(">i", frame, 8)  # after correlation id and throttle time
    at = 12
    brokers = []
    for _ in range(count):
        (node,) = struct.unpack_from(">i", frame, at)
        _, at = _string(frame, at + 4)
        _, at = _string(frame, at + 4)
        brokers.append(node)
    cluster_id, at = _string(frame, at)
    (controller,) = struct.unpack_from(">i", frame, at)
    return ClusterView(cluster_id=cluster_id, controller=controller, brokers=frozenset(brokers))


def _string(frame: bytes, at: int) -> tuple[str | None, int]:
    (length,) = struct.unpack_from(">h", frame, at)
    if length < 0:
        return None, at + 2
    return frame[at + 2 : at + 2 + length].decode(errors="replace"), at + 2 + length


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
