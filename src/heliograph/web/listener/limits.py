"""How long a client of the REST API may take for what, and how many requests are answered at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`head_seconds`: from a connection, or from the answer before, to the end of a request's head.
    `handshake_seconds`: for TLS. `write_seconds`: how long a client may leave an answer unread.
    """

    handshake_seconds: float = 10.0
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    write_seconds: float = 30.0
    requests: int = 200
