"""The state topic, and what writes and reads it beside the copy, without threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from heliograph.errors import ClientError, ConnectionLost
from heliograph.records.decode import Record
from simulation.world import World


class SimulatedBackgroundWriter:
    """In place of `BackgroundWriter`: keeps the newest value of each key until the simulation flushes it."""

    fatal = False
    topic = "state"

    def __init__(
        self, world: World, *_: Any, lapsed: Callable[[], bool] = lambda: False, **__: Any
    ) -> None:
        self._world = world
        self._lapsed = lapsed
        self._waiting: dict[bytes, bytes | None] = {}

    def start(self) -> None:
        pass

    def close(self, patience: float) -> None:
        self.flush()

    def offer(self, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        self._waiting |= dict(records)

    def flush(self) -> None:
        if self.problem is not None or self._lapsed():
            return
        for key, value in self._waiting.items():
            self._world.state.pop(key, None)
            self._world.state[key] = value
        self._waiting = {}

    def wait_idle(self, patience: float) -> None:
        self.flush()

    @property
    def problem(self) -> str | None:
        away = self._world.clock.now < self._world.state_away_until
        return "simulated: the state topic is away" if away else None

    @property
    def idle(self) -> bool:
        return not self._waiting

    @property
    def settled(self) -> bool:
        return self.idle


class SimulatedLogTail:
    """In place of `LogTail`: the state topic as compaction leaves it."""

    def __init__(self, world: World, *_: Any) -> None:
        self._world = world

    def read_new(self) -> list[Record]:
        require_state(self._world)
        return [
            Record(timestamp=0, key=key, value=value) for key, value in self._world.state.items()
        ]


def require_state(world: World) -> None:
    if world.clock.now < world.state_away_until:
        raise ClientError("simulated: the state topic is away")


def read_state_topic(world: World, *_: Any) -> dict[bytes, bytes | None]:
    """In place of `read_compacted`."""
    require_state(world)
    return dict(world.state)


def read_offsets_topic(world: World, *_: Any) -> dict[bytes, Record]:
    """In place of `read_newest`."""
    found = world.newest_offsets
    if found is None or world.chance(1 / 6):
        raise ConnectionLost("simulated: the offsets topic cannot be read")
    return found
