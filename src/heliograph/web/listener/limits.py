"""Time limits for a client of the REST API, and the number of requests in progress."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`head_seconds`: from the connection, or the previous response, to the end of a request's head.
    `handshake_seconds`: for TLS. `write_seconds`: how long a client may leave a response unread.
    """

    handshake_seconds: float = 10.0
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    write_seconds: float = 30.0
    requests: int = 200
