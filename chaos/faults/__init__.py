"""What can go wrong around a mirror, each as something that strikes at a given moment."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.faults.brokers import BrokerKill, FullDisk, LeaderMoves, RollingRestart
from chaos.faults.fault import Fault, Scene
from chaos.faults.network import Cut, Delay, HalfOpen, Reset, Stall
from chaos.faults.processes import ExecutorKill, ServiceKill, TwoServices, WorkerKill

FAULTS: tuple[Fault, ...] = (
    ServiceKill(),
    WorkerKill(),
    ExecutorKill(),
    TwoServices(),
    BrokerKill(),
    RollingRestart(),
    LeaderMoves(),
    FullDisk(),
    Cut(),
    Stall(),
    Delay(),
    Reset(),
    HalfOpen(),
)

__all__ = ["FAULTS", "Fault", "Scene", "named"]


def named(names: Iterable[str]) -> list[Fault]:
    """KeyError for a name that there is not."""
    known = {fault.name: fault for fault in FAULTS}
    return [known[name] for name in names]
