"""Faults of the network, through the proxy."""

from __future__ import annotations

from chaos.clusters.proxy import Direction, Gate
from chaos.faults.fault import Fault, Scene


class Cut(Fault):
    name = "cut"
    about = "connections are closed and new ones refused, for 1 to 60 s"

    def strike(self, scene: Scene) -> str:
        where, gates = scene.gates()
        seconds = scene.duration()
        for gate in gates:
            gate.cut()
        return _hold_and_heal(scene, where, gates, seconds)


class Stall(Fault):
    name = "stall"
    about = "connections are accepted; bytes are held back for 1 to 45 s, then released"

    def strike(self, scene: Scene) -> str:
        """The longest exceed the 30 s request timeout of clients."""
        where, gates = scene.gates()
        seconds = scene.duration(1.0, 45.0)
        for gate in gates:
            gate.stall()
        return _hold_and_heal(scene, where, gates, seconds)


class Delay(Fault):
    name = "delay"
    about = "every byte arrives 0.05 to 2 s late, for 3 to 10 s"

    def strike(self, scene: Scene) -> str:
        where, gates = scene.gates()
        seconds = scene.duration(3.0, 10.0)
        late = scene.duration(0.05, 2.0)
        for gate in gates:
            gate.delay(late)
        return f"{late:.2f} s: {_hold_and_heal(scene, where, gates, seconds)}"


class Reset(Fault):
    name = "reset"
    about = "connections end with an RST, one to five times within a second or two"
    quick_strikes = 5

    def strike(self, scene: Scene) -> str:
        where, gates = scene.gates()
        times = scene.random.randint(1, 5)
        for _ in range(times):
            for gate in gates:
                gate.reset()
            scene.hold(scene.random.uniform(0.0, 0.5))
        return f"{where}, {times} times"


class HalfOpen(Fault):
    name = "half-open"
    about = "the bytes of one direction are discarded; connections that were open never work again"
    quick_strikes = 2

    def strike(self, scene: Scene) -> str:
        where, gates = scene.gates()
        direction = scene.random.choice(list(Direction))
        for gate in gates:
            gate.half_open(direction)
        return f"{direction}: {_hold_and_heal(scene, where, gates, scene.duration(0.2, 20.0))}"


def _hold_and_heal(scene: Scene, where: str, gates: list[Gate], seconds: float) -> str:
    try:
        scene.hold(seconds)
    finally:
        for gate in gates:
            gate.heal()
    return f"{where}, {seconds:.1f} s"
