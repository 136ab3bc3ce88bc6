"""Server-sent events: bodies without an end, for a bounded number of clients.

A client takes what is current when it can: nothing is queued for it, so that a slow one costs no memory and
delays nothing. What is sent is made in at most a tenth of one core's time, for all clients together: the more
clients and the larger their pages, the longer the pauses between two updates. A client that reads nothing for
`Limits.write_seconds` is disconnected (`listener/protocol.py`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool

from heliograph.client.net.log_throttle import LogThrottle
from heliograph.counted import counted
from heliograph.web.exchange import EVENT_STREAM, Refused, RestRequest, RestResponse

_log = logging.getLogger(__name__)

#: Browsers and scripts that read live, of all listeners together.
MOST_CLIENTS = 32
_SECONDS = 1.0
_CLOSE_SECONDS = 0.25
#: Seconds of pause for each second of work.
_PAUSE = 10.0
#: Without news, a comment shows proxies and clients that the connection lives.
_SILENT_SECONDS = 15.0

#: As the HTML standard has it; str.splitlines knows more.
_LINE_END = re.compile(r"\r\n|\n|\r")

#: Gives the next part of a stream, None if there is nothing new. Called once a second, on a thread.
Next = Callable[[], bytes | None]


class Streams:
    def __init__(self, most: int = MOST_CLIENTS, seconds: float = _SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._open = 0
        self._closed = False
        self._repeats = LogThrottle()

    @property
    def clients(self) -> int:
        return self._open

    def close(self) -> None:
        """Ends all streams within a quarter of a second; for any thread."""
        self._closed = True

    def respond(self, following: Next) -> RestResponse:
        """Raises Refused (503) if there are too many clients."""
        if self._open >= self._most:
            if self._repeats.is_news("full", ""):
                _log.warning(
                    "limit of %s that read live events; refusing more",
                    counted(self._most, "client"),
                )
            raise Refused(
                503,
                f"{counted(self._most, 'client')} read live events already; close a page, or read without "
                f"Accept: {EVENT_STREAM}",
                headers={"retry-after": "5"},
            )
        return RestResponse(
            status=200,
            media_type=f"{EVENT_STREAM}; charset=utf-8",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
            stream=lambda: self._parts(following),
        )

    async def _parts(self, following: Next) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            yield b"retry: 2000\n\n"
            silent = 0.0
            while not self._closed:
                began = time.monotonic()
                part = await run_in_threadpool(following)
                work = time.monotonic() - began
                pause = max(self._seconds, _PAUSE * work * self._open)
                silent = 0.0 if part else silent + pause
                if part or silent >= _SILENT_SECONDS:
                    yield part or b": no news\n\n"
                    silent = 0.0
                await self._pause(pause)
        finally:
            self._open -= 1

    async def _pause(self, seconds: float) -> None:
        left = seconds
        while left > 0 and not self._closed:
            await asyncio.sleep(min(left, _CLOSE_SECONDS))
            left -= _CLOSE_SECONDS


def wants_stream(call: RestRequest) -> bool:
    """Whether the client asks for events rather than for one answer."""
    return call.method == "GET" and EVENT_STREAM in call.headers.get("accept", "").lower()


def sent_event(name: str, data: str, id: int | None = None) -> bytes:
    """One event in the form of the HTML standard."""
    head = f"event: {name}\n" + (f"id: {id}\n" if id is not None else "")
    return (head + "".join(f"data: {line}\n" for line in _LINE_END.split(data)) + "\n").encode(
        "utf-8", "backslashreplace"
    )
