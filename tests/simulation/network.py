"""Clients and connections between the mirror and the simulated brokers.

A connection carries out what was sent in order, a few requests at a time. It may break before a request is
carried out, or before its answer arrives; what its broker had read by then is carried out later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.net.connection import Connection
from heliograph.errors import ConnectionLost
from heliograph.model import ClusterConfig
from heliograph.wire import fetch, produce
from simulation.brokers import NODES, Brokers
from simulation.world import Request, World

_AT_ONCE = 3
_LIST_TRANSACTIONS = 66


class SimulatedConnection:
    """What the fetcher and the producer need of a connection."""

    versions = {produce.API_KEY: (0, 13), fetch.API_KEY: (0, 17), _LIST_TRANSACTIONS: (0, 1)}  # noqa: RUF012 - as Connection has it
    wants_write = False
    is_trusted = True

    def __init__(
        self, world: World, brokers: Brokers, node: int, moment: Callable[[], int]
    ) -> None:
        self.dead = False
        self.features = {"transaction.version": brokers.transaction_version}
        self._moment = moment
        self._world = world
        self._brokers = brokers
        self._node = node
        self._sent: deque[tuple[int, Request, Callable[[memoryview], None] | None]] = deque()

    def send(
        self,
        key: int,
        version: int,
        pieces: Sequence[bytes | memoryview],
        on_answer: Callable[[memoryview], None],
        **_: Any,
    ) -> None:
        if self.dead:
            raise ConnectionLost("simulated: the connection is broken")
        body = b"".join(bytes(piece) for piece in pieces)
        request = Request(self._node, body, self._moment(), version)
        self._sent.append((key, request, on_answer))

    @property
    def busy(self) -> bool:
        return bool(self._sent)

    def forget(self) -> None:
        """Answers to what is under way are dropped."""
        self._sent = deque((key, request, None) for key, request, _ in self._sent)

    def pump(self) -> None:
        world = self._world
        if self.dead:
            raise ConnectionLost("simulated: the connection is broken")
        for _ in range(world.rng.randint(0, _AT_ONCE)):
            if not self._sent:
                return
            if world.chance(1 / 3):
                self.break_off()
                raise ConnectionLost("simulated: the connection broke")
            key, request, on_answer = self._sent.popleft()
            answer = self._carry_out(key, request)
            if key == produce.API_KEY and world.chance(1 / 3):
                self.break_off()
                raise ConnectionLost("simulated: the connection broke before the answer")
            if on_answer is not None:
                on_answer(memoryview(bytearray(answer)))

    def break_off(self) -> None:
        """Of what is under way, the broker has read some, and carries it out later."""
        if self.dead:
            return
        self.dead = True
        waiting = [request for key, request, _ in self._sent if key == produce.API_KEY]
        self._world.late += waiting[: self._world.rng.randint(0, len(waiting))]

    def lose(self) -> None:
        """Its broker goes away: it has carried out some of what was under way; no answer arrives."""
        if self.dead:
            return
        waiting = [request for key, request, _ in self._sent if key == produce.API_KEY]
        for request in waiting[: self._world.rng.randint(0, len(waiting))]:
            self._world.carry_out_produce(request)
        self._sent.clear()
        self.dead = True

    def _carry_out(self, key: int, request: Request) -> bytes:
        if key == fetch.API_KEY:
            return self._brokers.fetch(self._node, request.body)
        return self._world.carry_out_produce(request)


class SimulatedClient(ClusterClient):
    """Of one side, `source` or `target`."""

    def __init__(self, world: World, config: ClusterConfig, side: str) -> None:
        super().__init__(config, client_id="simulation")
        self._world = world
        self._brokers = Brokers(world, side)
        self._simulated: dict[int, SimulatedConnection] = {}
        self.metadata = self._brokers.metadata()
        #: When its process was frozen: what it sends afterwards was ready to be sent then.
        self.frozen: int | None = None

    def _moment(self) -> int:
        return self._world.moment() if self.frozen is None else self.frozen

    def refresh(self, topics: Iterable[str] | None = None) -> Metadata:
        if self._world.chance(1 / 6):
            raise ConnectionLost("simulated: no metadata")
        self.metadata = self._brokers.metadata()
        return self.metadata

    def connection(self, node: int) -> Connection:
        assert node in NODES
        found = self._simulated.get(node)
        if found is None or found.dead:
            found = SimulatedConnection(self._world, self._brokers, node, self._moment)
            self._simulated[node] = found
        as_any: Any = found
        return as_any  # type: ignore[no-any-return]

    def disconnect(self, node: int) -> None:
        if (found := self._simulated.pop(node, None)) is not None:
            found.break_off()

    def lose_connection(self, node: int) -> None:
        if (found := self._simulated.get(node)) is not None:
            found.lose()

    def break_off(self) -> None:
        """The process is gone."""
        for node in list(self._simulated):
            self.disconnect(node)

    @property
    def busy(self) -> bool:
        return any(each.busy for each in self._simulated.values())

    def close(self) -> None:
        self.break_off()

    def call_any(self, request: Any) -> Any:
        return self.call(self._world.leader, request)

    def call_all(self, node: int, requests: Sequence[Any]) -> list[Any]:
        if self._world.chance(1 / 6):
            raise ConnectionLost("simulated: no answer")
        return [self._brokers.answer(node, request) for request in requests]
