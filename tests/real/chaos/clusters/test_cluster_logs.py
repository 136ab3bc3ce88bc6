"""Strikes on logs do what they say, on real brokers. Otherwise a session that survives them proves little."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from confluent_kafka import KafkaError, Producer

from chaos.clusters.cluster_logs import delete_records, ends, starts, writes_refused
from chaos.clusters.stage import Stage
from chaos.faults import Scene, named
from chaos.judging.archive import Archive
from chaos.judging.truth import Truth
from chaos.record import Identity, encode
from support.waiting import eventually

pytestmark = pytest.mark.proof

TOPIC, REMOTE = "fragile", "remote"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def _write(bootstrap: str, topic: str, sequences: range) -> list[KafkaError | None]:
    """To partition 0; acknowledged by all replicas in sync. What became of each."""
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    for sequence in sequences:
        value = encode(Identity(1, 0, sequence), b"")
        producer.produce(topic, value, partition=0, on_delivery=lambda e, _: errors.append(e))
    assert producer.flush(60) == 0
    return errors


def _scene(stage: Stage, while_alone: Callable[[], object]) -> Scene:
    """A scene without services: nothing is killed but brokers. `while_alone` runs when a leader is alone."""

    class AloneScene(Scene):
        def hold(self, seconds: float) -> None:
            while_alone()

        def remote_topics(self) -> list[str]:
            return [REMOTE]

    return AloneScene(
        stage=stage,
        services=[],
        truth=Truth(
            source=Archive(stage.source.direct, {TOPIC: 1}),
            targets=Archive(stage.target.direct, {REMOTE: 1}),
        ),
        random=random.Random(1),
        longest=1.0,
        topics=(TOPIC,),
        partitions=1,
    )


@pytest.mark.timeout(300)
def test_logs_are_shortened_by_an_unclean_election_on_either_side(stage: Stage) -> None:
    source, target = stage.sides
    truncates, loses = named(["source-truncates", "target-tail-loss"])
    for side, topic, fault in ((source, TOPIC, truncates), (target, REMOTE, loses)):
        side.create_fragile({topic: 1}, [1, 2])
        assert not any(_write(side.direct, topic, range(10)))
        write = partial(_write, side.direct, topic, range(10, 25))
        scene = _scene(stage, while_alone=write)

        said = fault.strike(scene)

        assert "15 records" in said
        assert ends(side, [(topic, 0)]) == {(topic, 0): 10}
        lost = scene.truth.target_lost[REMOTE, 0]
        assert len(lost) == (15 if side is target else 0)


@pytest.mark.timeout(120)
def test_a_topic_refuses_all_batches_for_a_while(stage: Stage) -> None:
    side = stage.target
    side.create({"refusing": 1})
    with writes_refused(side, ["refusing"]):
        eventually(
            lambda: _write(side.direct, "refusing", range(20)),
            lambda errors: {e and e.code() for e in errors} == {KafkaError.MSG_SIZE_TOO_LARGE},
        )
    eventually(lambda: _write(side.direct, "refusing", range(20)), lambda errors: not any(errors))


@pytest.mark.timeout(120)
def test_what_was_read_before_it_was_deleted_stays_in_the_archive(stage: Stage) -> None:
    side, where = stage.source, ("deleting", 0)
    side.create({"deleting": 1})
    archive = Archive(side.direct, {"deleting": 1})
    _write(side.direct, "deleting", range(20))
    archive.extend()

    delete_records(side, {where: 15})
    _write(side.direct, "deleting", range(20, 30))

    assert starts(side, [where]) == {where: 15}
    assert [entry.offset for entry in archive.extend()[where]] == list(range(30))
