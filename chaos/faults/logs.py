"""Faults of logs: a source or a target that loses its tail, retention that overtakes the mirror."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

from chaos.clusters.cluster_logs import (
    await_replicas,
    delete_records,
    ends,
    replicas,
    starts,
    writes_refused,
)
from chaos.clusters.proxy import Direction
from chaos.clusters.stage import Side
from chaos.errors import ChaosError
from chaos.faults.crashes import Crashes, Moment
from chaos.faults.fault import Fault, Scene
from chaos.judging.truth import Allowance
from chaos.subjects import Subject

_PLAIN = frozenset({"plain"})
_ALL = frozenset({"plain", "transactions"})


class SourceTruncates(Fault):
    name = "source-truncates"
    about = (
        "a follower stops, the leader continues alone and is killed, the follower starts and leads: an "
        "unclean election. kill -9 of the service before, amid, after, or not"
    )
    # Not a transactional topic: it would lose the markers of its transactions, and block its readers.
    fragile_on_source = _PLAIN
    allowance = Allowance(truncated=True)

    def strike(self, scene: Scene) -> str:
        source = scene.stage.source
        with _shortened(scene, source, _fragile(source, scene.topics)) as shortening:
            now = ends(source, shortening.ends)
        lost = sum(max(0, end - now[where]) for where, end in shortening.ends.items())
        return f"{shortening.what}; it lost about {lost} records"


class TargetTailLoss(Fault):
    name = "target-tail-loss"
    about = (
        "a follower of the remote topics stops, their leader continues alone and is killed, the follower "
        "starts and leads. kill -9 of the service before, amid, after, or not"
    )
    fragile_on_target = _ALL
    allowance = Allowance(copied_again=True)

    def strike(self, scene: Scene) -> str:
        target, truth = scene.stage.target, scene.truth
        lost = 0
        with _shortened(scene, target, _fragile(target, scene.remote_topics())) as shortening:
            for where, end in ends(target, shortening.ends).items():
                gone = truth.targets.cut(where, end)
                truth.target_lost[where] += gone
                lost += len(gone)
        return f"{shortening.what}; it lost {lost} records"


class _Shortening(NamedTuple):
    what: str
    ends: dict[tuple[str, int], int]  # before the leader is killed


def _fragile(side: Side, topics: Sequence[str]) -> list[str]:
    found = replicas(side, topics)
    return sorted({topic for (topic, _), each in found.items() if len(each.all) == 2})


def _partitions(scene: Scene, topics: Sequence[str]) -> list[tuple[str, int]]:
    return [(topic, partition) for topic in topics for partition in range(scene.partitions)]


@contextmanager
def _shortened(scene: Scene, side: Side, topics: list[str]) -> Iterator[_Shortening]:
    """The block runs while the follower leads with a shorter log. All replicas are in sync afterwards.

    On the target, the mirror cannot reach the follower during the block: what the follower lacks was lost.
    """
    if not topics:
        raise ChaosError(f"{side.name}: no fragile topic")
    cluster, archive = side.cluster, scene.truth.targets if side is scene.stage.target else None
    (nodes,) = {each.all for each in replicas(side, topics).values()}
    follower, leader = scene.random.sample(sorted(nodes), 2)
    alone = scene.duration(0.5, 6.0)
    crashes = Crashes.choose(scene)
    cluster.stop_node(follower)
    await_replicas(side, topics, lambda r: r.in_sync == {leader}, "alone")
    scene.hold(alone)
    crashes.at(Moment.BEFORE, scene)
    if archive is not None:
        archive.extend()
        side.gates[follower - 1].cut()
    before = ends(side, _partitions(scene, topics))
    cluster.kill_node(leader)
    crashes.at(Moment.AMID, scene)
    try:
        cluster.start_node(follower)
        await_replicas(side, topics, lambda r: r.leader == follower, "led by the follower")
        what = (
            f"{side.name}-{leader} alone for {alone:.1f} s, then {side.name}-{follower}; {crashes}"
        )
        yield _Shortening(what, before)
    finally:
        side.gates[follower - 1].heal()
    crashes.at(Moment.AFTER, scene)
    cluster.start_node(leader)
    await_replicas(side, topics, lambda r: r.in_sync == r.all, "in sync again")


class RetentionOvertakes(Fault):
    name = "retention-overtakes"
    about = (
        "the target refuses all batches (sometimes after lost answers) or cannot be reached for some "
        "seconds; the source deletes records during that time. kill -9 of the service before, amid, after, "
        "or not"
    )
    allowance = Allowance(passed_over=True, copied_again=True)

    #: The new log start of the source: 0 is the log end when the strike began, 1 that when it deletes.
    _PLACES = (-0.5, 1.0)

    def first(self, subject: Subject) -> Subject:
        """Otherwise a restart would restore max.message.bytes on the target."""
        return replace(subject, extra={"sync.topic.configs.enabled": "false"})

    def strike(self, scene: Scene) -> str:
        source, truth = scene.stage.source, scene.truth
        refusal = scene.random.choice(_REFUSALS)
        seconds, more = scene.duration(1.0, 6.0), scene.duration(0.5, 8.0)
        crashes = Crashes.choose(scene)
        partitions = _partitions(scene, scene.topics)
        places = {where: scene.random.uniform(*self._PLACES) for where in partitions}
        first = ends(source, partitions)
        with ExitStack() as stack:
            refusal(scene, stack)
            crashes.at(Moment.BEFORE, scene)
            scene.hold(seconds)
            truth.source.extend()  # to the last stable offset: no open transaction is cut
            now = truth.source.ends
            goals = {w: int(first[w] + places[w] * (now[w] - first[w])) for w in partitions}
            least = starts(source, partitions)
            goals = {w: max(least[w], min(goal, now[w])) for w, goal in goals.items()}
            delete_records(source, goals)
            truth.deleted.update(goals)
            crashes.at(Moment.AMID, scene)
            scene.hold(more)
        crashes.at(Moment.AFTER, scene)
        named = refusal.__name__.strip("_").replace("_", " ")
        return f"{named} for {seconds + more:.1f} s, deleted after {seconds:.1f} s; {crashes}"


def _answers_lost(scene: Scene, stack: ExitStack) -> None:
    """Requests reach the target, answers are lost; then connections end, and retries are refused."""
    gates = scene.stage.target.gates
    try:
        for gate in gates:
            gate.half_open(Direction.TO_CLIENT)
        scene.hold(scene.random.uniform(0.1, 1.0))
        stack.enter_context(writes_refused(scene.stage.target, scene.remote_topics()))
        scene.hold(0.5)
    finally:
        for gate in gates:
            gate.reset()
            gate.heal()


def _refused(scene: Scene, stack: ExitStack) -> None:
    stack.enter_context(writes_refused(scene.stage.target, scene.remote_topics()))


def _unreachable(scene: Scene, stack: ExitStack) -> None:
    for gate in scene.stage.target.gates:
        stack.callback(gate.heal)
        gate.cut()


#: Lost answers, the ambiguous case, are more frequent.
_REFUSALS = (_answers_lost, _answers_lost, _refused, _unreachable)
