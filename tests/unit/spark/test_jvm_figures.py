from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from py4j.protocol import Py4JError

from heliograph.metrics.snapshot import JvmFigures
from heliograph.spark.jvm_figures import JvmWatch
from support.waiting import eventually


def _of(value: Any) -> Any:
    return lambda: value


def session(management: Any) -> Any:
    java = SimpleNamespace(
        lang=SimpleNamespace(management=SimpleNamespace(ManagementFactory=management))
    )
    return SimpleNamespace(sparkContext=SimpleNamespace(_jvm=SimpleNamespace(java=java)))


def used(size: int) -> Any:
    return _of(SimpleNamespace(getUsed=_of(size)))


GOOD = session(
    SimpleNamespace(
        getMemoryMXBean=_of(
            SimpleNamespace(getHeapMemoryUsage=used(100), getNonHeapMemoryUsage=used(50))
        ),
        getThreadMXBean=_of(SimpleNamespace(getThreadCount=_of(7))),
        getGarbageCollectorMXBeans=_of(
            [
                SimpleNamespace(
                    getName=_of("G1"), getCollectionCount=_of(3), getCollectionTime=_of(250)
                )
            ]
        ),
    )
)


def _broken() -> Any:
    raise Py4JError("the JVM is gone")


BROKEN = session(SimpleNamespace(getMemoryMXBean=_broken))


def test_figures_come_with_the_jvm_and_go_with_it() -> None:
    """Each round may find another session, or none."""
    rounds = [None, GOOD]
    watch = JvmWatch(lambda: rounds[0] if len(rounds) == 1 else rounds.pop(0))
    watch.start()
    try:
        found = eventually(lambda: watch.figures, lambda figures: figures is not None)
        assert found == JvmFigures(
            memory={"heap": 100, "nonheap": 50}, threads=7, collections={"G1": (3, 0.25)}
        )
    finally:
        watch.stop()


def test_a_lost_jvm_has_no_figures() -> None:
    asked: list[int] = []

    def ask() -> Any:
        asked.append(1)
        return BROKEN

    watch = JvmWatch(ask)
    watch.figures = JvmFigures()
    watch.start()
    try:
        eventually(lambda: (watch.figures, len(asked)), lambda s: s[0] is None and s[1] > 0)
    finally:
        watch.stop()
