"""The state topic, and what writes and reads it beside the copy, without threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heliograph.records.decode import Record
from simulation.world import World


class SimulatedBackgroundWriter:
    """In place of `BackgroundWriter`: keeps the newest value of each key until the simulation flushes it."""

    fatal = False
    topic = "state"

    def __init__(self, world: World, *_: Any, **__: Any) -> None:
        self._world = world
        self._waiting: dict[bytes, bytes | None] = {}

    def start(self) -> None:
        pass

    def close(self, patience: float) -> None:
        self.flush()

    def offer(self, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        self._waiting |= dict(records)

    def flush(self) -> None:
        if self.problem is not None:
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
        return [
            Record(timestamp=0, key=key, value=value) for key, value in self._world.state.items()
        ]
