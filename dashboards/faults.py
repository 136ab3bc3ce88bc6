"""Real faults, one for each alert: what begins it, and what ends it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import psutil

from dashboards.stage import Stage, remote
from dashboards.traffic import Traffic
from harness.processes import children


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`alerts` fire after `begin` and end after `end`, or by themselves where `end` does nothing.
    `waiting`: a topic whose lag is compared with an independent count while the fault lasts."""

    name: str
    about: str
    alerts: tuple[str, ...]
    begin: Callable[[Stage, Traffic], None]
    end: Callable[[Stage, Traffic], None]
    waiting: str = ""


def _nothing(stage: Stage, traffic: Traffic) -> None:
    del stage, traffic


def _renew(stage: Stage, traffic: Traffic) -> None:
    del traffic
    stage.issue(timedelta(days=200))
    _stop_target(stage)
    _start_target(stage)


def _stop_target(stage: Stage) -> None:
    stage.target.forget_admin()
    stage.target_cluster.stop_node(1)


def _start_target(stage: Stage) -> None:
    stage.target_cluster.start_node(1)


def _refusing(
    *topics: str,
) -> tuple[Callable[[Stage, Traffic], None], Callable[[Stage, Traffic], None]]:
    """A target that refuses every record of these topics as too large."""
    names = [remote(topic) for topic in topics]

    def begin(stage: Stage, traffic: Traffic) -> None:
        del traffic
        stage.configure(names, "max.message.bytes", "10")

    def end(stage: Stage, traffic: Traffic) -> None:
        del traffic
        stage.configure(names, "max.message.bytes", None)

    return begin, end


def _burst(stage: Stage, traffic: Traffic) -> None:
    del stage
    traffic.burst(True)


def _no_burst(stage: Stage, traffic: Traffic) -> None:
    del stage
    traffic.burst(False)


def _too_large(stage: Stage, traffic: Traffic) -> None:
    stage.configure([remote("large")], "max.message.bytes", "2000")
    traffic.write("large", b"x" * 20_000, count=7)


def _large_enough(stage: Stage, traffic: Traffic) -> None:
    del traffic
    stage.configure([remote("large")], "max.message.bytes", None)


def _delete_topic(stage: Stage, traffic: Traffic) -> None:
    del traffic
    for future in stage.source.admin.delete_topics(["doomed"]).values():
        future.result(60)


def _group_without_map(stage: Stage, traffic: Traffic) -> None:
    """An offset behind the end of the topic: nothing was mirrored there yet."""
    del traffic
    stage.commit("audit", "empty", 5)


def _group_with_map(stage: Stage, traffic: Traffic) -> None:
    traffic.write("empty", count=10)
    stage.commit("audit", "empty", 10)


def _tasks(stage: Stage) -> Iterator[psutil.Process]:
    """Spark's Python workers, which copy."""
    assert stage.process is not None
    for each in children(stage.process.pid):
        if any("pyspark" in word for word in each.cmdline()) and each.name() != "java":
            yield each


def _freeze(stage: Stage, traffic: Traffic) -> None:
    del traffic
    for each in _tasks(stage):
        each.send_signal(signal.SIGSTOP)


def _thaw(stage: Stage, traffic: Traffic) -> None:
    del traffic
    for each in _tasks(stage):
        each.send_signal(signal.SIGCONT)


_BUSY = ("orders", "payments")
_late, _on_time = _refusing("heartbeats")
_stalled, _going = _refusing(*_BUSY, "heartbeats")

FAULTS = (
    Fault(
        name="certificate", about="the broker's certificate expires in 10 days; then it is renewed",
        alerts=("HeliographCertificateExpiring",), begin=_nothing, end=_renew,
    ),
    Fault(
        name="group", about="a group commits an offset of which no mirrored record is known; then another",
        alerts=("HeliographGroupNotSynced",), begin=_group_without_map, end=_group_with_map,
    ),
    Fault(
        name="large-record", about="a record above its remote topic's max.message.bytes; then that is raised",
        alerts=("HeliographPartitionFailed", "HeliographTaskFailed"), begin=_too_large, end=_large_enough,
        waiting="large",
    ),
    Fault(
        name="deleted-topic", about="a topic of the source is deleted; the alert ends by itself",
        alerts=("HeliographGap",), begin=_delete_topic, end=_nothing,
    ),
    Fault(
        name="heartbeats", about="the target refuses heartbeats",
        alerts=("HeliographHeartbeatLate",), begin=_late, end=_on_time,
    ),
    Fault(
        name="burst", about="more is written than throttle.bytes.per.second allows",
        alerts=("HeliographLagGrowing",), begin=_burst, end=_no_burst,
    ),
    Fault(
        name="refusing-target", about="the target answers, and refuses all records",
        alerts=("HeliographFlowStalled",), begin=_stalled, end=_going,
    ),
    Fault(
        name="frozen-task", about="Spark's Python workers are stopped (SIGSTOP)",
        alerts=("HeliographFlowStalled",), begin=_freeze, end=_thaw,
    ),
    Fault(
        name="stopped-target", about="the target's broker is stopped: no group can be led",
        alerts=("HeliographNoLeader",),
        begin=lambda stage, _: _stop_target(stage), end=lambda stage, _: _start_target(stage),
    ),
    Fault(
        name="stopped-source", about="the source's broker is stopped",
        alerts=("HeliographFlowStalled",),
        begin=lambda stage, _: stage.stop_source(), end=lambda stage, _: stage.start_source(),
    ),
    Fault(
        name="stopped-service", about="the service is stopped, and started again",
        alerts=("HeliographDown",),
        begin=lambda stage, _: stage.stop_mirror(), end=lambda stage, _: stage.start_mirror(),
    ),
)  # fmt: skip
