"""What dies under a mirror is replaced, by itself, and nothing is lost or doubled."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

from support.flows.mirroring import Flow, Running
from support.flows.under_load import busy_workers, wait_for_same_length, writing
from support.waiting import eventually

_PARTITIONS = 2


def jvm() -> list[psutil.Process]:
    """Spark's, a child of this process."""
    children = psutil.Process().children()
    return [each for each in children if "org.apache.spark.deploy.SparkSubmit" in each.cmdline()]


def kill_under_load(flow: Flow, find: Callable[[], list[psutil.Process]]) -> tuple[Running, float]:
    """The mirror as it ended, and for how many seconds nothing was copied."""
    topic = flow.create(partitions=_PARTITIONS)
    with flow.running() as mirror:
        with writing(flow.source, topic, _PARTITIONS):
            mirror.wait_for_records(100)
            victims = find()
            assert victims
            began = time.monotonic()
            for victim in victims:
                victim.kill()
            eventually(lambda: mirror.progress.restarts, lambda count: count == 1, within=20)
            copied = mirror.progress.records
            mirror.wait_for_records(copied + 10, within=60)
            seconds = time.monotonic() - began
            mirror.wait_for_records(copied + 100)
        wait_for_same_length(flow, topic, _PARTITIONS)
        eventually(mirror.problems, lambda problems: not problems)

    assert flow.assert_mirrored(topic) > 200
    return mirror, seconds


def test_killed_workers_are_replaced(flow: Flow) -> None:
    mirror, seconds = kill_under_load(flow, busy_workers)

    assert mirror.progress.restarts == 1
    assert seconds < 8


def test_a_killed_jvm_is_replaced(flow: Flow) -> None:
    mirror, seconds = kill_under_load(flow, jvm)

    assert mirror.progress.restarts == 1
    assert seconds < 60  # most of it a JVM's start, while the other lane may start six brokers
