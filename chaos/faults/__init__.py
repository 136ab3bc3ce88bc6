"""The faults that chaos strikes a mirror with."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.faults.brokers import BrokerKill, FullDisk, LeaderMoves, RollingRestart
from chaos.faults.fault import Fault, Scene
from chaos.faults.logs import RetentionOvertakes, SourceTruncates, TargetTailLoss
from chaos.faults.network import Cut, Delay, HalfOpen, Reset, Stall
from chaos.faults.processes import IsolationSwitch, ServiceKill, TwoServices, WorkerKill
from chaos.faults.spark import DriverCut, ExecutorFreeze, ExecutorKill, NodeLoss

FAULTS: tuple[Fault, ...] = (
    ServiceKill(),
    WorkerKill(),
    ExecutorKill(),
    NodeLoss(),
    ExecutorFreeze(),
    DriverCut(),
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
    IsolationSwitch(),
    SourceTruncates(),
    TargetTailLoss(),
    RetentionOvertakes(),
)

__all__ = ["FAULTS", "Fault", "Scene", "named"]


def named(names: Iterable[str]) -> list[Fault]:
    """KeyError for an unknown name."""
    known = {fault.name: fault for fault in FAULTS}
    return [known[name] for name in names]
