"""A fault of each kind strikes once, under load; the mirror recovers, and has each record once.

Three brokers a side behind the proxy; writers, service and oracle have nothing else in common. All faults,
a few times each: `make chaos ARGS=--quick`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from chaos.faults import Fault, Scene, named
from chaos.results import misses, row
from chaos.session import Order, Session
from chaos.spark_cluster import SparkCluster
from chaos.stage import Stage
from chaos.subjects import Mode, System

log = logging.getLogger(__name__)

#: Both clusters are cut; the others hit one broker.
_SEED = 2
_RATE = 300.0
#: No cut lasts longer.
_LONGEST_SECONDS = 2.0


class OneAfterTheOther(Fault):
    name = "one after the other"
    about = "each strikes once"
    gap = (0.0, 0.5)
    patient = True  # a strike that the mirror does not recover from is an error

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._left = list(faults)

    def strike(self, scene: Scene) -> str:
        fault = self._left.pop(0)
        return f"{fault.name}: {fault.strike(scene)}"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def assert_survived(
    stage: Stage,
    folder: Path,
    names: Sequence[str],
    spark: SparkCluster | None = None,
) -> None:
    order = Order(
        name=names[0],  # no other test's
        fault=OneAfterTheOther(named(names)),
        system=System.HELIOGRAPH,
        modes=[Mode.DEFAULT],
        strikes=len(names),
        rate=_RATE,
        seed=_SEED,
        longest=_LONGEST_SECONDS,
        folder=folder,
    )

    (outcome,) = Session(order, stage, partial(log.info, "%s")).run(spark)

    assert misses(row(outcome)) == [], outcome


@pytest.mark.timeout(1800)
def test_network_brokers_and_processes(stage: Stage, tmp_path: Path) -> None:
    assert_survived(stage, tmp_path, ["cut", "reset", "broker-kill", "service-kill"])


@pytest.mark.timeout(1800)
def test_a_lost_node_of_a_real_spark_cluster(stage: Stage, tmp_path: Path) -> None:
    """Spark runs its tasks again elsewhere, and does not count that as their failure."""
    with SparkCluster(tmp_path / "spark") as spark:
        assert_survived(stage, tmp_path, ["node-loss"], spark)
