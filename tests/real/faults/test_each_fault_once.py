"""A short `make chaos`: every fault strikes once, under load; the mirror recovers, and has each record once.

Three brokers a side behind the proxy; writers, service and oracle have nothing else in common.
worker-kill: tests/real/mirror/test_healing.py; two-services: tests/real/mirror/test_one_service.py
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from chaos.faults import Fault, Scene, named
from chaos.results import misses, row
from chaos.session import Order, Session
from chaos.spark_cluster import SparkCluster
from chaos.stage import Stage
from chaos.subjects import Mode, System

log = logging.getLogger(__name__)

#: Both clusters are cut and stalled; the others hit one broker.
_SEED = 2
_RATE = 300.0
#: No cut or the like lasts longer.
_LONGEST_SECONDS = 2.0
_MAY_MOUNT = os.geteuid() == 0
_OF_NETWORK = ("cut", "stall", "delay", "reset", "half-open")
_OF_BROKERS = ("broker-kill", "leader-moves", "rolling-restart")
_OF_PROCESSES = ("service-kill",)
_OF_DISKS = ("full-disk",) if _MAY_MOUNT else ()


class OneAfterTheOther(Fault):
    name = "one after the other"
    about = "each strikes once"
    gap = (0.0, 0.5)

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._left = list(faults)

    def strike(self, scene: Scene) -> str:
        fault = self._left.pop(0)
        return f"{fault.name}: {fault.strike(scene)}"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(small_disks=_MAY_MOUNT, disk_size="256m") as stage:
        yield stage


def assert_survived(
    stage: Stage, folder: Path, names: Sequence[str], spark: SparkCluster | None = None
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
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        log.info("%s", line)

    (outcome,) = Session(order, stage, say).run(spark)

    assert misses(row(outcome)) == [], outcome
    assert not [line for line in said if "not recovered" in line]


@pytest.mark.timeout(600)
def test_network_brokers_disks_and_processes(stage: Stage, tmp_path: Path) -> None:
    if not _MAY_MOUNT:
        log.warning("full-disk is left out: only root can mount small disks")
    strikes = [*_OF_NETWORK, *_OF_BROKERS, *_OF_DISKS, *_OF_PROCESSES]

    assert_survived(stage, tmp_path, strikes)


@pytest.mark.timeout(600)
def test_executors_of_a_real_spark_cluster(stage: Stage, tmp_path: Path) -> None:
    with SparkCluster(tmp_path / "spark") as spark:
        assert_survived(stage, tmp_path, ["executor-kill"], spark)
