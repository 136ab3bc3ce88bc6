"""Runs one session: a load, the mirrors, a fault that strikes repeatedly, and the oracle at the end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chaos.clusters.spark_cluster import SparkCluster
from chaos.clusters.stage import NODES, Side, Stage
from chaos.errors import ChaosError
from chaos.faults import Fault, Scene
from chaos.judging.archive import Archive
from chaos.judging.judge import Judge
from chaos.judging.oracle import Difference
from chaos.judging.tail import Tail, Watch, Where
from chaos.judging.truth import Truth
from chaos.load import Load, Topic
from chaos.subjects import Mode, Service, Subject, System

PARTITIONS = 4
KINDS = ("plain", "transactions")
_FIRST_SECONDS = 300.0
_RECOVER_SECONDS = 120.0
#: Connect may hold back the tasks of a lost worker for five minutes (scheduled.rebalance.max.delay.ms).
_CATCH_UP_SECONDS = 420.0
#: After everything has arrived: requests of a dead process may still reach the broker.
_LINGER_SECONDS = 3.0
_LOOK_SECONDS = 0.1
#: Requests in flight when a fault struck have reached the broker by then, and the tails have read them.
_SETTLE_SECONDS = 0.5
#: The share of strikes that do not wait until the mirror has recovered from the one before.
_IMPATIENT_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The parameters of a session."""

    name: str  # unique in a run: part of the topics' and clusters' names
    fault: Fault
    system: System
    modes: Sequence[Mode]
    strikes: int
    rate: float
    seed: int
    longest: float
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one subject."""

    fault: str
    system: System
    mode: Mode
    strikes: int
    records: int
    difference: Difference
    reports: int  # of lost or doubled source offsets, in the mirror's log
    longest_pause: float
    exits: int  # of the service by itself
    caught_up: bool


class Session:
    """The modes of one system run at the same time, on the same source topics and under the same strikes."""

    def __init__(self, order: Order, stage: Stage, say: Callable[[str], None]) -> None:
        self._order = order
        self._stage = stage
        self._say = say
        self._random = random.Random(f"{order.seed}:{order.fault.name}")
        self._topics = [
            Topic(
                name=f"{order.name}-{kind}",
                partitions=PARTITIONS,
                rate=order.rate / 2,
                transactional=kind == "transactions",
                durable=kind not in order.fault.fragile_on_source,
            )
            for kind in KINDS
        ]

    def run(self, spark: SparkCluster | None) -> list[Outcome]:
        order = self._order
        order.folder.mkdir(parents=True, exist_ok=True)
        subjects = [order.fault.first(self._subject(mode, spark)) for mode in order.modes]
        self._create_topics(subjects)
        truth = self._truth(subjects)
        load = Load(
            self._stage.source.direct, self._topics, seed=str(order.seed), folder=order.folder
        )
        names = {topic.name: topic.name for topic in self._topics}
        source = Tail(self._stage.source.direct, names, PARTITIONS)
        services: list[Service] = []
        watches: list[Watch] = []
        try:
            services += map(Service, subjects)
            scene = Scene(
                stage=self._stage,
                services=services,
                truth=truth,
                random=self._random,
                longest=order.longest,
                spark=spark,
                topics=tuple(names),
                partitions=PARTITIONS,
            )
            self._begin(scene, source, watches)
            self._strike(scene, load, source, watches)
            acknowledged = load.stop()
            caught_up = self._catch_up(scene, source, acknowledged, watches)
        finally:
            load.kill()
            for service in services:
                service.stop()
            for watch in watches:
                watch.close()
            source.close()
        judge = Judge(self._stage, order.fault.allowance, self._topics, truth)
        judge.see_source(acknowledged)
        return [
            self._outcome(judge, *each) for each in zip(services, watches, caught_up, strict=True)
        ]

    def _create_topics(self, subjects: Sequence[Subject]) -> None:
        """The mirror creates the remote topics, unless a fault needs fragile ones."""
        fault = self._order.fault
        kinds = dict(zip(KINDS, self._topics, strict=True))
        sources = {kind: {topic.name: PARTITIONS} for kind, topic in kinds.items()}
        for kind, topics in sources.items():
            if kind not in fault.fragile_on_source:
                self._stage.source.create(topics)
        remotes = {
            kind: {subject.remote(topic.name): PARTITIONS for subject in subjects}
            for kind, topic in kinds.items()
        }
        self._create_fragile(self._stage.source, fault.fragile_on_source, sources)
        self._create_fragile(self._stage.target, fault.fragile_on_target, remotes)

    def _create_fragile(
        self, side: Side, fragile: Iterable[str], topics: Mapping[str, Mapping[str, int]]
    ) -> None:
        """All on the same two nodes, so that one election shortens all of them."""
        if wanted := {name: n for kind in fragile for name, n in topics[kind].items()}:
            side.create_fragile(wanted, self._random.sample(range(1, NODES + 1), 2))

    def _truth(self, subjects: Sequence[Subject]) -> Truth:
        counts = {topic.name: topic.partitions for topic in self._topics}
        remote = {each.remote(name): n for each in subjects for name, n in counts.items()}
        return Truth(
            source=Archive(self._stage.source.direct, counts),
            targets=Archive(self._stage.target.direct, remote),
        )

    def _subject(self, mode: Mode, spark: SparkCluster | None) -> Subject:
        return Subject(
            system=self._order.system,
            mode=mode,
            session=self._order.name,
            source=self._stage.source.proxied,
            target=self._stage.target.proxied,
            folder=self._order.folder / mode,
            master=None if spark is None else spark.master,
        )

    def _begin(self, scene: Scene, source: Tail, watches: list[Watch]) -> None:
        """Waits until every partition of every subject has its first record."""
        for service in scene.services:
            remote = {service.subject.remote(t.name): t.name for t in self._topics}
            self._until(partial(self._exist, remote), _FIRST_SECONDS, scene, "no remote topics")
            watches.append(Watch(source, Tail(self._stage.target.direct, remote, PARTITIONS)))
        first: dict[Where, int] = dict.fromkeys(source.newest, 0)
        for watch in watches:
            self._until(partial(watch.reached, first), _FIRST_SECONDS, scene, "no first records")
            watch.start()

    def _exist(self, topics: Iterable[str]) -> bool:
        return all(map(self._stage.target.partitions, topics))

    def _strike(self, scene: Scene, load: Load, source: Tail, watches: list[Watch]) -> None:
        gap = self._order.fault.gap
        for number in range(1, self._order.strikes + 1):
            time.sleep(self._random.uniform(*gap))
            began = time.monotonic()
            what = self._order.fault.strike(scene)
            struck = time.monotonic() - began
            impatient = self._random.random() < _IMPATIENT_SHARE and not self._order.fault.patient
            if not impatient or number == self._order.strikes:
                self._recover(scene, source, watches)
            load.raise_if_exited()
            took = time.monotonic() - began - struck
            self._say(
                f"  {number}/{self._order.strikes} {what}; struck for {struck:.1f} s, "
                + ("not waited for" if impatient else f"recovered after {took:.1f} s")
            )

    def _recover(self, scene: Scene, source: Tail, watches: list[Watch]) -> None:
        """Waits until records written after the strike have arrived in every partition."""
        time.sleep(_SETTLE_SECONDS)
        goal = {where: number + 1 for where, number in source.newest.items()}
        patient = self._order.fault.patient
        seconds = _CATCH_UP_SECONDS if patient else _RECOVER_SECONDS
        try:
            self._until(lambda: all(watch.reached(goal) for watch in watches), seconds, scene, "")
        except ChaosError as e:
            if patient:  # the next strike would not test what it describes
                raise ChaosError(f"not recovered within {seconds:.0f} s: no result") from e
            self._say(f"  not recovered within {seconds:.0f} s; continuing")

    def _catch_up(
        self,
        scene: Scene,
        source: Tail,
        acknowledged: dict[Where, list[range]],
        watches: list[Watch],
    ) -> list[bool]:
        """Waits; for each subject, whether it has everything that was acknowledged to writers."""
        self._stage.heal()
        goal = {where: ranges[-1][-1] for where, ranges in acknowledged.items() if ranges}
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        while not all(w.reached(goal) for w in watches) and time.monotonic() < deadline:
            for service in scene.services:
                service.look_after()
            time.sleep(_LOOK_SECONDS)
        caught_up = [watch.reached(goal) for watch in watches]
        time.sleep(_LINGER_SECONDS)
        return caught_up

    def _outcome(self, judge: Judge, service: Service, watch: Watch, caught_up: bool) -> Outcome:
        difference, reports = judge.verdict(service.subject)
        return Outcome(
            fault=self._order.fault.name,
            system=self._order.system,
            mode=service.subject.mode,
            strikes=self._order.strikes,
            records=judge.records,
            difference=difference,
            reports=reports,
            longest_pause=watch.pauses.longest,
            exits=service.exits,
            caught_up=caught_up,
        )

    def _until(
        self, reached: Callable[[], bool], seconds: float, scene: Scene, failure: str
    ) -> None:
        deadline = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > deadline:
                raise ChaosError(f"{failure} within {seconds:.0f} s (see {self._order.folder})")
            for service in scene.services:
                service.look_after()
            time.sleep(_LOOK_SECONDS)
