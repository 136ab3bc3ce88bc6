"""Frames a request body: size and request header.

request   INT32 size · INT16 apiKey · INT16 apiVersion · INT32 correlationId · STRING clientId · body
response  INT32 size · INT32 correlationId · body
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from heliograph.wire.primitives import string

SIZE = struct.Struct(">i")
_HEAD = struct.Struct(">ihhi")

Piece = bytes | bytearray | memoryview


def frame(
    api_key: int, version: int, correlation_id: int, client_id: str, body: Sequence[Piece]
) -> list[Piece]:
    name = string(client_id)
    size = _HEAD.size - SIZE.size + len(name) + sum(map(len, body))
    return [_HEAD.pack(size, api_key, version, correlation_id) + name, *body]


def describe_garbage(head: bytes, *, logs_in: bool = False) -> str:
    """What the first four bytes of an impossible frame look like, for an error message. `logs_in`: this
    client has a SASL login."""
    if head == b"HTTP":
        return "an HTTP server answered"
    if head[:2] in (b"\x15\x03", b"\x16\x03"):
        needed = "SASL_SSL" if logs_in else "SSL, or SASL_SSL with a login"
        return f"a TLS server answered; the listener may need security.protocol={needed} (Strimzi: add tls)"
    if head.startswith(b"SSH"):
        return "an SSH server answered"
    return f"the answer starts with {head!r}"
