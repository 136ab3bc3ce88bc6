"""A TCP proxy between the mirror and the brokers that breaks connections on command.

    mirror ──► gate (a port that a broker advertises) ──► broker's own port

One gate per broker. Writers and the oracle connect directly.

    cut        all connections are closed, bytes in flight are lost, new connections are refused reset
    all connections end with an RST; new ones are accepted stall      connections are accepted; bytes are held
    back, then released in order delay      every byte arrives later, in order; the bandwidth is unchanged
    half-open  the bytes of one direction, and its end of stream, are discarded. A connection that lost bytes
    stays
               broken after `heal`: only the client's own timeout ends it
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterable
from enum import StrEnum
from typing import Any, TypeVar

from heliograph.embedded.ports import HeldPorts
from heliograph.embedded.properties import HOST

_CHUNK_BYTES = 1 << 16
_QUEUED_CHUNKS = 64
_RST_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 seconds
_COMMAND_SECONDS = 60.0
_BIND_SECONDS = 60.0

Result = TypeVar("Result")


class Direction(StrEnum):
    TO_BROKER = "to the broker"
    TO_CLIENT = "to the client"


class Proxy:
    """All gates, on an event loop in its own thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._gates: list[Gate] = []

    def add_gates(self, count: int) -> list[Gate]:
        """They listen at once; connections are closed until `upstream` is set."""
        with HeldPorts() as held:
            ports = [held.take() for _ in range(count)]
        gates = [Gate(port, self._do) for port in ports]
        for gate in gates:
            gate.heal()
        self._gates += gates
        return gates

    def close(self) -> None:
        for gate in self._gates:
            gate.cut()
        self._do(_end_all_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_COMMAND_SECONDS)
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_COMMAND_SECONDS)


async def _end_all_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Gate:
    """The path to one broker. A command returns when it has taken effect."""

    def __init__(self, port: int, do: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self.port = port
        self.upstream: int | None = None
        self.delay_seconds = 0.0
        self.discards: Direction | None = None
        self.flowing = asyncio.Event()
        self._do = do
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()

    def cut(self) -> None:
        self._do(self._cut())

    def reset(self) -> None:
        self._do(self._reset())

    def stall(self) -> None:
        self._do(self._set(flowing=False))

    def delay(self, seconds: float) -> None:
        self._do(self._set(delay=seconds))

    def half_open(self, direction: Direction) -> None:
        self._do(self._set(discards=direction))

    def heal(self) -> None:
        self._do(self._heal())

    async def _set(
        self, *, flowing: bool = True, delay: float = 0.0, discards: Direction | None = None
    ) -> None:
        self.delay_seconds, self.discards = delay, discards
        if discards is not None:
            for link in self._links:
                link.discards.add(discards)
        if flowing:
            self.flowing.set()
        else:
            self.flowing.clear()

    async def _heal(self) -> None:
        await self._set()
        deadline = asyncio.get_running_loop().time() + _BIND_SECONDS
        while self._server is None:
            try:
                self._server = await asyncio.start_server(self._accept, HOST, self.port)
            except OSError:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(0.05)

    async def _cut(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            # A connection that was accepted just now has not reached `_accept` yet. A server that is closed
            # before that (Python 3.11: Server._attach) would leave the connection open and unknown to this
            # gate.
            for listening in server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())
            await asyncio.sleep(0)
            server.close()
        for link in list(self._links):
            link.abort()

    async def _reset(self) -> None:
        for link in list(self._links):
            link.reset()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Only `Proxy.close` cancels it; Python 3.11 would print a traceback for each cancelled one.
        with contextlib.suppress(asyncio.CancelledError):
            await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            broker = await self._upstream()
        except BaseException:  # such as a cancellation: no other code closes this connection
            writer.transport.abort()
            raise
        if broker is None:
            writer.transport.abort()
            return
        link = _Link(self, (reader, writer), broker)
        if self._server is None:  # the gate was cut in the meantime
            link.abort()
            return
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)
            link.close()

    async def _upstream(self) -> _Stream | None:
        """None if the broker is down: the client's connection is closed then."""
        if self.upstream is None:
            return None
        try:
            return await asyncio.open_connection(HOST, self.upstream)
        except OSError:
            return None


_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One connection through a gate."""

    def __init__(self, gate: Gate, client: _Stream, broker: _Stream) -> None:
        self._gate = gate
        self._client = client
        self._broker = broker
        self.discards: set[Direction] = set() if gate.discards is None else {gate.discards}

    async def run(self) -> None:
        """Until one side closes and the other side can notice it."""
        directions = [
            asyncio.ensure_future(self._carry(self._client[0], self._broker[1], "TO_BROKER")),
            asyncio.ensure_future(self._carry(self._broker[0], self._client[1], "TO_CLIENT")),
        ]
        pending: Iterable[asyncio.Future[bool]] = directions
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if any(each.result() for each in done):
                    return
        finally:
            for each in directions:
                each.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*directions, return_exceptions=True)

    def close(self) -> None:
        for _, writer in (self._client, self._broker):
            writer.close()

    def abort(self) -> None:
        """Closes; bytes that were not delivered are lost."""
        for _, writer in (self._client, self._broker):
            writer.transport.abort()

    def reset(self) -> None:
        for _, writer in (self._client, self._broker):
            found: socket.socket | None = writer.get_extra_info("socket")
            if found is not None:
                with contextlib.suppress(OSError):
                    found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST_ON_CLOSE)
        self.abort()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str
    ) -> bool:
        """True if the other side can notice the end of this direction."""
        direction = Direction[name]
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_QUEUED_CHUNKS)
        filling = asyncio.ensure_future(self._fill(reader, queue))
        try:
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                await self._gate.flowing.wait()
                if direction in self.discards:
                    if not data:
                        # The client has closed: the whole connection can end.
                        return direction is Direction.TO_BROKER
                    continue
                if not data:
                    return True
                writer.write(data)
                await writer.drain()
        except (ConnectionError, OSError):
            return True
        finally:
            filling.cancel()

    async def _fill(
        self, reader: asyncio.StreamReader, queue: asyncio.Queue[tuple[float, bytes]]
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                data = await reader.read(_CHUNK_BYTES)
            except (ConnectionError, OSError):
                data = b""
            await queue.put((loop.time() + self._gate.delay_seconds, data))
            if not data:
                return
