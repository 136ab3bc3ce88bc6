"""One session: a load, the mirrors, a fault that strikes again and again, and the oracle at the end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chaos.errors import ChaosError
from chaos.faults import Fault, Scene
from chaos.load import Load, Topic
from chaos.oracle import (
    Difference,
    Log,
    compare,
    missing_at_source,
    offsets_without_record,
    read,
)
from chaos.spark_cluster import SparkCluster
from chaos.stage import Stage
from chaos.subjects import Mode, Service, Subject, System
from chaos.tail import Tail, Watch, Where

PARTITIONS = 4
_FIRST_SECONDS = 120.0
_RECOVER_SECONDS = 120.0
#: Connect may keep the tasks of a worker that it lost for five minutes (scheduled.rebalance.max.delay.ms).
_CATCH_UP_SECONDS = 420.0
#: After all has arrived: whatever a dead process left in flight may still land.
_LINGER_SECONDS = 3.0
_LOOK_SECONDS = 0.1
#: A request that was on its way when a fault struck has landed by then, and the tails have seen it.
_SETTLE_SECONDS = 0.5
#: Some strikes do not wait until the mirror has recovered from the one before.
_IMPATIENT_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a session is asked for."""

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
    """What one subject made of it."""

    fault: str
    system: System
    mode: Mode
    strikes: int
    records: int
    difference: Difference
    longest_pause: float
    exits: int  # of the service, that nobody asked for
    caught_up: bool


class Session:
    """The modes of one system run side by side, on the same source topics and under the same strikes."""

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
            )
            for kind in ("plain", "transactions")
        ]

    def run(self, spark: SparkCluster | None) -> list[Outcome]:
        order = self._order
        order.folder.mkdir(parents=True, exist_ok=True)
        self._stage.source.create({topic.name: topic.partitions for topic in self._topics})
        load = Load(
            self._stage.source.direct, self._topics, seed=str(order.seed), folder=order.folder
        )
        names = {topic.name: topic.name for topic in self._topics}
        source = Tail(self._stage.source.direct, names, PARTITIONS)
        services: list[Service] = []
        watches: list[Watch] = []
        try:
            services += [Service(self._subject(mode, spark)) for mode in order.modes]
            scene = Scene(
                stage=self._stage,
                services=services,
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
        return self._judge(services, watches, acknowledged, caught_up)

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
        """Until every partition of every subject has its first record."""
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
            said = self._order.fault.strike(scene)
            struck = time.monotonic() - began
            impatient = self._random.random() < _IMPATIENT_SHARE
            if not impatient or number == self._order.strikes:
                self._recover(scene, source, watches)
            load.raise_if_exited()
            took = time.monotonic() - began - struck
            self._say(
                f"  {number}/{self._order.strikes} {said}; struck for {struck:.1f} s, "
                + ("not waited for" if impatient else f"back after {took:.1f} s")
            )

    def _recover(self, scene: Scene, source: Tail, watches: list[Watch]) -> None:
        """Until records that were written after the strike have arrived, in every partition."""
        time.sleep(_SETTLE_SECONDS)
        goal = {where: number + 1 for where, number in source.newest.items()}
        try:
            self._until(
                lambda: all(watch.reached(goal) for watch in watches), _RECOVER_SECONDS, scene, ""
            )
        except ChaosError:
            self._say(f"  not recovered within {_RECOVER_SECONDS:.0f} s; going on")

    def _catch_up(
        self,
        scene: Scene,
        source: Tail,
        acknowledged: dict[Where, list[range]],
        watches: list[Watch],
    ) -> list[bool]:
        """Which subjects have everything that was acknowledged to writers."""
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

    def _judge(
        self,
        services: Sequence[Service],
        watches: Sequence[Watch],
        acknowledged: dict[Where, list[range]],
        caught_up: Sequence[bool],
    ) -> list[Outcome]:
        counts = {topic.name: topic.partitions for topic in self._topics}
        source = read(self._stage.source.direct, counts)
        if missing := missing_at_source(source, acknowledged):
            raise ChaosError(f"the source lacks {missing} records that it had acknowledged")
        return [
            Outcome(
                fault=self._order.fault.name,
                system=self._order.system,
                mode=service.subject.mode,
                strikes=self._order.strikes,
                records=sum(map(len, source.values())),
                difference=self._difference(service.subject, source),
                longest_pause=watch.pauses.longest,
                exits=service.exits,
                caught_up=reached,
            )
            for service, watch, reached in zip(services, watches, caught_up, strict=True)
        ]

    def _difference(self, subject: Subject, source: Log) -> Difference:
        remote = {subject.remote(topic.name): topic.partitions for topic in self._topics}
        target = read(self._stage.target.direct, remote)
        direct = self._stage.target.direct
        if subject.mode is Mode.EXACTLY_ONCE and not offsets_without_record(direct, target):
            raise ChaosError(f"{subject.name}: it did not write in transactions")
        return sum(
            (
                compare(entries, target[(subject.remote(topic), partition)])
                for (topic, partition), entries in source.items()
            ),
            Difference(),
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
