"""The base of all faults, and the scene in which they strike."""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

from chaos.clusters.proxy import Gate
from chaos.clusters.spark_cluster import SparkCluster
from chaos.clusters.stage import Side, Stage
from chaos.judging.truth import Allowance, Truth
from chaos.subjects import Service, Subject, System


@dataclass(slots=True, kw_only=True)
class Scene:
    """Where a fault strikes. A fault may replace `services`, but leaves a running one for each subject."""

    stage: Stage
    services: list[Service]
    truth: Truth
    random: random.Random
    longest: float  # seconds: the upper bound of a fault's duration
    spark: SparkCluster | None = None
    topics: tuple[str, ...] = ()
    partitions: int = 0

    def remote_topics(self) -> list[str]:
        return [each.subject.remote(topic) for each in self.services for topic in self.topics]

    def duration(self, least: float = 1.0, most: float = 60.0) -> float:
        """Short durations are more frequent: the logarithm is distributed evenly."""
        most = max(least, min(most, self.longest))
        return math.exp(self.random.uniform(math.log(least), math.log(most)))

    def side(self) -> Side:
        return self.random.choice(self.stage.sides)

    def gates(self) -> tuple[str, list[Gate]]:
        """The gates of one broker, one cluster or both clusters, and a name for them."""
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
    """Law: what `strike` breaks is repaired when it returns. It returns a description of what it did."""

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
    #: Every strike waits until the mirror has recovered; if it does not, the session has no result.
    patient = False
    #: Seconds between a strike and the next, chosen at random.
    gap = (0.5, 4.0)

    @abstractmethod
    def strike(self, scene: Scene) -> str: ...

    def first(self, subject: Subject) -> Subject:
        """The configuration of a subject at the beginning of the session."""
        return subject
