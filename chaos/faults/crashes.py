"""Crashes of the service around another event: before, amid or after it, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from chaos.faults.fault import Scene


class Moment(StrEnum):
    BEFORE = "before"
    AMID = "amid"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Crashes:
    """A moment for each service, or None; chosen when the strike begins."""

    moments: Sequence[Moment | None]

    @classmethod
    def choose(cls, scene: Scene) -> Crashes:
        return cls([scene.random.choice([None, *Moment]) for _ in scene.services])

    def at(self, moment: Moment, scene: Scene) -> None:
        """kill -9 of all processes of the services whose moment it is, and a restart at once."""
        for service, chosen in zip(scene.services, self.moments, strict=True):
            if chosen is moment:
                service.kill(whole_family=True)
                service.restart()

    def __str__(self) -> str:
        return "kill -9: " + ", ".join(each or "none" for each in self.moments)
