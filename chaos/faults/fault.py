"""What every fault has, and what it finds when it strikes."""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

from chaos.proxy import Gate
from chaos.spark_cluster import SparkCluster
from chaos.stage import Side, Stage
from chaos.subjects import Service, Subject, System
from chaos.truth import Allowance, Truth


@dataclass(slots=True, kw_only=True)
class Scene:
    """Where a fault strikes. `services` may be replaced: a fault leaves one that runs for each subject."""

    stage: Stage
    services: list[Service]
    truth: Truth
    random: random.Random
    longest: float  # seconds: no cut or the like is longer
    spark: SparkCluster | None = None
    topics: tuple[str, ...] = ()
    partitions: int = 0

    def remote_topics(self) -> list[str]:
        return [each.subject.remote(topic) for each in self.services for topic in self.topics]

    def duration(self, least: float = 1.0, most: float = 60.0) -> float:
        """Short ones are more frequent: their logarithm is spread evenly."""
        most = max(least, min(most, self.longest))
        return math.exp(self.random.uniform(math.log(least), math.log(most)))

    def side(self) -> Side:
        return self.random.choice(self.stage.sides)

    def gates(self) -> tuple[str, list[Gate]]:
        """One broker, one cluster, or all of both, and a name for it."""
        side = self.side()
        chosen = self.random.randrange(4)
        if chosen == 0:
            return "both clusters", [gate for each in self.stage.sides for gate in each.gates]
        if chosen == 1:
            return side.name, list(side.gates)
        number = self.random.randrange(len(side.gates))
        return f"{side.name}-{number + 1}", [side.gates[number]]

    def hold(self, seconds: float) -> None:
        time.sleep(seconds)


class Fault(ABC):
    """Law: what `strike` breaks is mended when it returns. What it returns says what it did."""

    name: str
    about: str
    strikes = 20  # in a full run
    quick_strikes = 3
    systems: frozenset[System] = frozenset(System)
    needs_spark_cluster = False
    needs_small_disks = False
    allowance = Allowance()
    #: Kinds of topics whose logs an unclean election may shorten, on either side (`Side.create_fragile`).
    fragile_on_source: frozenset[str] = frozenset()
    fragile_on_target: frozenset[str] = frozenset()
    #: Every strike waits until the mirror has recovered; a session in which it does not has no result.
    patient = False
    #: Seconds between a strike and the next, chosen at random.
    gap = (0.5, 4.0)

    @abstractmethod
    def strike(self, scene: Scene) -> str: ...

    def first(self, subject: Subject) -> Subject:
        """What a subject is configured with when the session begins."""
        return subject
