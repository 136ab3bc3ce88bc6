"""Faults of brokers: crash, rolling restart, leader moves, full disk."""

from __future__ import annotations

import threading
import time

from chaos.clusters.stage import NODES
from chaos.errors import ChaosError
from chaos.faults.fault import Fault, Scene
from heliograph.embedded import Cluster

_DIE_SECONDS = 20.0


class BrokerKill(Fault):
    name = "broker-kill"
    about = "kill -9 of a broker on either side, and its restart"

    def strike(self, scene: Scene) -> str:
        side, node = scene.side(), scene.random.randint(1, NODES)
        away = scene.duration(0.5, 8.0)
        side.cluster.kill_node(node)
        scene.hold(away)
        side.cluster.start_node(node)
        return f"{side.name}-{node} for {away:.1f} s"


class RollingRestart(Fault):
    name = "rolling-restart"
    about = "all brokers restart in order, one after the other, both clusters at the same time"
    quick_strikes = 1

    def strike(self, scene: Scene) -> str:
        orders = [scene.random.sample(range(1, NODES + 1), NODES) for _ in scene.stage.sides]
        errors: list[Exception] = []
        threads = [
            threading.Thread(target=_roll, args=(side.cluster, order, errors))
            for side, order in zip(scene.stage.sides, orders, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return f"in the orders {orders}"


def _roll(cluster: Cluster, order: list[int], errors: list[Exception]) -> None:
    try:
        for node in order:
            cluster.stop_node(node)
            cluster.start_node(node)
    except Exception as e:  # noqa: BLE001 - raised again by the thread that waits
        errors.append(e)


class LeaderMoves(Fault):
    name = "leader-moves"
    about = "every partition of a cluster gets another leader"

    def strike(self, scene: Scene) -> str:
        side = scene.side()
        topics = scene.topics if side is scene.stage.source else scene.remote_topics()
        orders = {
            (topic, partition): scene.random.sample(range(1, NODES + 1), NODES)
            for topic in topics
            for partition in range(scene.partitions)
        }
        side.move_leaders(orders)
        return f"{len(orders)} partitions of {side.name}"


class FullDisk(Fault):
    name = "full-disk"
    about = "the disk of one target broker, or of all, is full for some seconds"
    needs_small_disks = True

    def strike(self, scene: Scene) -> str:
        """A broker whose only disk fails exits; it is started again when there is space."""
        disks, cluster = scene.stage.disks, scene.stage.target.cluster
        if disks is None:
            raise ChaosError("full-disk: the target has no small disks")
        everyone = list(range(1, NODES + 1))
        nodes = everyone if scene.random.random() < 0.3 else [scene.random.choice(everyone)]
        try:
            for node in nodes:
                disks.fill(node)
            deadline = time.monotonic() + _DIE_SECONDS
            while any(node in cluster.pids for node in nodes) and time.monotonic() < deadline:
                time.sleep(0.2)
            dead = [node for node in nodes if node not in cluster.pids]
            scene.hold(scene.duration(0.5, 5.0))
        finally:
            for node in nodes:
                disks.empty(node)
        _start(cluster, [node for node in nodes if node not in cluster.pids])
        return f"of {nodes}; brokers that exited: {dead}"


def _start(cluster: Cluster, nodes: list[int]) -> None:
    """All at the same time: two of three are needed before any is ready."""
    errors: list[Exception] = []

    def start(node: int) -> None:
        try:
            cluster.start_node(node)
        except Exception as e:  # noqa: BLE001 - raised again below
            errors.append(e)

    threads = [threading.Thread(target=start, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
