"""Exactly once while one broker of the target cannot be reached although it leads a partition: the others
go on, no task fails, and each record is there once.

    broker 1, 2   internal topics, coordinators, remote topics of other records
    broker 3      the remote topic whose leader is behind a closed gate
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from chaos.clusters.proxy import Direction, Gate, Proxy
from heliograph.client.produce.transactions import Coordinator
from heliograph.embedded import Cluster, Listener
from heliograph.model import PartitionState
from heliograph.spark.session import LocalSpark
from support.clusters.reading import read_all
from support.clusters.writing import Writer, create_placed, numbered
from support.flows.mirroring import TARGET, Flow, new_alias
from support.flows.transacting import COMMITTED, ENABLED, lease_of, task, visible
from support.waiting import eventually

AWAY = 3
_DIRECT, _GATED = "DIRECT", "GATED"


@dataclass(frozen=True)
class Gated:
    """A flow whose tasks come to the target through gates; readers and writers do not."""

    flow: Flow
    gates: list[Gate]

    @property
    def gate(self) -> Gate:
        return self.gates[AWAY - 1]

    @property
    def settings(self) -> dict[str, str]:
        return {
            **ENABLED,
            f"{TARGET}.bootstrap.servers": self.flow.target.bootstrap(_GATED),
            f"{self.flow.name}.tasks.max": "1",
        }

    def create(self, name: str, *, broker: int) -> str:
        """On the source, and its remote topic on one broker of the target."""
        topic = self.flow.create(name)
        create_placed(self.flow.target, self.flow.remote(topic), [[broker]])
        return topic


@pytest.fixture(scope="module")
def gated(
    spark: LocalSpark, source_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gated]:
    proxy = Proxy()
    gates = proxy.add_gates(3)
    ports = tuple(gate.port for gate in gates)
    once = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    listeners = (Listener(name=_DIRECT), Listener(name=_GATED, advertised_ports=ports))
    settings = {**once, "offsets.topic.replication.factor": "1", "log.retention.ms": "-1"}
    try:
        with Cluster("gated", nodes=3, settings=settings, listeners=listeners) as target:
            for gate, port in zip(gates, target.client_ports(_GATED), strict=True):
                gate.upstream = port
            folder = tmp_path_factory.mktemp("gated")
            flow = Flow(new_alias("gated"), source_cluster, target, spark, folder)
            found = Gated(flow, gates)
            _place_internal_topics(found)
            yield found
    finally:
        proxy.close()


def _place_internal_topics(gated: Gated) -> None:
    """A first run creates them; on brokers that are there."""
    target = gated.flow.target
    target.stop_node(AWAY)
    first = gated.flow.create("first")
    Writer(gated.flow.source, first).batch(numbered(range(1)))
    gated.flow.mirror_once(gated.settings, **COMMITTED)
    target.start_node(AWAY)


@pytest.fixture(autouse=True)
def _opened_again(gated: Gated) -> Iterator[None]:
    yield
    gated.gate.heal()


def values(gated: Gated, topic: str) -> list[bytes | None]:
    """As a read_committed reader sees them, which does not pass the gates."""
    (found,) = read_all(gated.flow.target, gated.flow.remote(topic)).values()
    return [record.value for record in found]


def written(numbers: range) -> list[bytes | None]:
    return [record.value for record in numbered(numbers)]


def test_a_transaction_of_which_nothing_could_be_sent_fails_no_task(gated: Gated) -> None:
    """The coordinator learns of a transaction of version 2 with its first produce request: before that, a
    commit is answered with INVALID_TXN_STATE."""
    flow = gated.flow
    away, near = gated.create("away", broker=AWAY), gated.create("near", broker=1)
    write_away, write_near = Writer(flow.source, away).batch, Writer(flow.source, near).batch

    with flow.running(gated.settings, **COMMITTED) as mirror:
        write_near(numbered(range(5)))
        eventually(lambda: visible(flow, near), lambda records: records == 5)
        gated.gate.cut()
        write_away(numbered(range(50)))
        eventually(
            lambda: mirror.receipt(away),
            lambda r: r is not None and r.state is PartitionState.RETRYING,
        )
        for start in range(5, 20, 5):
            write_near(numbered(range(start, start + 5)))
            eventually(lambda: visible(flow, near), lambda records, end=start + 5: records == end)
        held_up = visible(flow, away)
        gated.gate.heal()
        eventually(lambda: visible(flow, away), lambda records: records == 50)
        restarts = mirror.progress.restarts

    assert held_up == 0
    assert restarts == 0
    assert values(gated, away) == written(range(50))
    assert values(gated, near) == written(range(20))


@pytest.mark.parametrize("lost", list(Direction))
@pytest.mark.parametrize("version", [1, 2])
def test_a_transaction_of_which_it_is_not_known_what_arrived_is_aborted_and_done_again(
    gated: Gated,
    version: int,
    lost: Direction,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The produce request is lost, so that the coordinator of a transaction of version 2 knows nothing of
    it; or only its answer is."""
    if version == 1:
        monkeypatch.setattr(Coordinator, "version", lambda self: 1)
    flow = gated.flow
    topic = gated.create(f"lost-{lost.name.lower().replace('_', '-')}-{version}", broker=AWAY)
    write = Writer(flow.source, topic).batch
    timeout = {f"{flow.name}.producer.override.transaction.timeout.ms": "6000"}
    mirror = flow.config({**gated.settings, **timeout}, **COMMITTED)

    with task(mirror, lease_of(flow, topic, 0)) as running:

        def wait_for(position: int) -> None:
            eventually(
                lambda: (running.receipt(topic).position, running.failure),
                lambda state: state[0] == position or state[1] is not None,
            )

        write(numbered(range(5)))
        wait_for(5)
        gated.gate.half_open(lost)
        write(numbered(range(5, 10)))
        eventually(lambda: running.transaction.opened, lambda at: at is not None)
        gated.gate.cut()
        eventually(
            lambda: (running.failure, caplog.text),
            lambda state: state[0] is not None or "transaction aborted" in state[1],
        )
        gated.gate.heal()
        wait_for(10)
        write(numbered(range(10, 15)))
        wait_for(15)

    assert running.failure is None
    assert running.transaction.version == version
    assert "transaction aborted" in caplog.text
    assert values(gated, topic) == written(range(15))
