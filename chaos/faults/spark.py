"""Faults of executors on a Spark standalone cluster: crash, node loss, freeze, cut from the driver."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable

import psutil

from chaos.clusters.blackhole import Blackhole
from chaos.clusters.spark_cluster import SparkCluster
from chaos.errors import ChaosError
from chaos.faults.fault import Fault, Scene
from chaos.subjects import System
from harness.processes import kill

_FIND_SECONDS = 60.0
_LOOK_SECONDS = 0.05
#: Longer than the 6 s without an answer of the driver after which a task stops (`spark/control_channel.py`).
_LEAST_SECONDS = 8.0
_MOST_SECONDS = 25.0


class _ClusterFault(Fault):
    systems = frozenset({System.HELIOGRAPH})
    needs_spark_cluster = True

    def _cluster(self, scene: Scene) -> SparkCluster:
        if scene.spark is None:
            raise ChaosError(f"{self.name}: no Spark cluster")
        return scene.spark

    def _await_busy_nodes(self, scene: Scene) -> list[str]:
        """Waits for nodes with an executor that has started Python; returns at least one."""
        spark = self._cluster(scene)
        deadline = time.monotonic() + _FIND_SECONDS
        while not (
            busy := [
                n for n in spark.nodes if len(spark.executor_families(n)) > len(spark.executors(n))
            ]
        ):
            if time.monotonic() > deadline:
                raise ChaosError(
                    f"{self.name}: no executor runs Python after {_FIND_SECONDS:.0f} s"
                )
            time.sleep(_LOOK_SECONDS)
        return busy


class ExecutorKill(_ClusterFault):
    name = "executor-kill"
    about = "kill -9 of an executor on a Spark standalone cluster with two workers"

    def strike(self, scene: Scene) -> str:
        self._await_busy_nodes(scene)
        executors = self._cluster(scene).executors()
        kill(scene.random.choice(executors))
        return f"1 of {len(executors)}"


class NodeLoss(_ClusterFault):
    name = "node-loss"
    about = "kill -9 of a Spark worker daemon, its executors and their Python processes; it starts again"

    def strike(self, scene: Scene) -> str:
        """Spark does not count this as a task failure: it runs the tasks again."""
        spark, node = self._cluster(scene), scene.random.choice(self._await_busy_nodes(scene))
        executors, away = len(spark.executors(node)), scene.duration(2.0, 15.0)
        spark.kill_node(node)
        scene.hold(away)
        spark.start_node(node)
        return f"{node} with {executors} executors for {away:.1f} s"


class ExecutorFreeze(_ClusterFault):
    name = "executor-freeze"
    about = "SIGSTOP of a node's executors and their Python processes, SIGCONT 8 to 25 s later"

    def strike(self, scene: Scene) -> str:
        spark, node = self._cluster(scene), scene.random.choice(self._await_busy_nodes(scene))
        seconds = scene.duration(_LEAST_SECONDS, _MOST_SECONDS)
        frozen = spark.executor_families(node)
        try:
            _signal(frozen, signal.SIGSTOP)
            scene.hold(seconds)
        finally:
            _signal(frozen, signal.SIGCONT)
        return f"{len(frozen)} processes of {node} for {seconds:.1f} s"


class DriverCut(_ClusterFault):
    name = "driver-cut"
    about = "packets between drivers and executors are dropped for 8 to 25 s; both still reach the brokers"

    def strike(self, scene: Scene) -> str:
        spark = self._cluster(scene)
        self._await_busy_nodes(scene)
        seconds = scene.duration(_LEAST_SECONDS, _MOST_SECONDS)
        drivers = [process for service in scene.services for process in service.family()]
        with Blackhole(drivers, spark.executor_families()) as hole:
            scene.hold(seconds)
        return f"{hole.sockets} sockets for {seconds:.1f} s"


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        if process.is_running():  # and its pid was not given to another process
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                continue
