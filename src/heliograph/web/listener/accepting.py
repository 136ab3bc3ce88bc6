"""Accepts connections within limits and hands them to uvicorn.

It replaces asyncio's server: a connection counts before its TLS handshake, the handshake has a time limit,
and uses the certificate that is current at that moment.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from functools import partial
from typing import Any

import uvicorn

from heliograph.client.net.log_throttle import LogThrottle
from heliograph.web.listener.connections import Connections, Held, address_of
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.protocol import GuardedProtocol
from heliograph.web.listener.tls import ServerContext

_log = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0


class AcceptingServer(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        tls: ServerContext | None,
        connections: Connections,
        limits: Limits,
    ) -> None:
        super().__init__(config)
        self._tls = tls
        self._connections = connections
        self._limits = limits
        self._repeats = LogThrottle()
        self._accepting: list[asyncio.Task[None]] = []
        self._welcoming: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.servers = []  # uvicorn stops the asyncio servers in this list; there are none
        for each in sockets or ():
            each.setblocking(False)
            self._accepting.append(asyncio.create_task(self._accept(each)))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = [*self._accepting, *self._welcoming]
        for each in ending:
            each.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await super().shutdown(sockets)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, peer = await loop.sock_accept(listening)
            except OSError as e:  # such as too many open files
                _log.warning("REST API: cannot accept a connection: %s; trying again", e)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            held = self._connections.admit(address_of(peer))
            if held is None:
                accepted.close()
                continue
            task = asyncio.create_task(self._welcome(accepted, held))
            held.drop = task.cancel
            self._welcoming.add(task)
            task.add_done_callback(partial(self._welcomed, accepted, held))

    async def _welcome(self, accepted: socket.socket, held: Held) -> None:
        options: dict[str, Any] = {}
        if self._tls is not None:
            options["ssl"] = self._tls.current()
            options["ssl_handshake_timeout"] = self._limits.handshake_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._protocol(held), accepted, **options
            )
        except OSError as e:  # the TLS handshake failed or timed out
            self._connections.release(held)
            level = (
                logging.DEBUG if isinstance(e, ConnectionError) else logging.INFO
            )  # a probe closes it
            if self._repeats.is_news("tls", str(e)):
                _log.log(level, "connection from %s: TLS handshake failed: %s", held.address, e)

    def _welcomed(self, accepted: socket.socket, held: Held, task: asyncio.Task[None]) -> None:
        self._welcoming.discard(task)
        if task.cancelled():  # perhaps before it ran
            self._connections.release(held)
            accepted.close()

    def _protocol(self, held: Held) -> GuardedProtocol:
        return GuardedProtocol(
            self.config, self.server_state, held, self._connections, self._limits
        )
