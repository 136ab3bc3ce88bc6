"""What dies under a mirror is replaced, by itself, and nothing is lost or doubled."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import psutil

from harness.processes import runs
from heliograph.model import SILENT_SECONDS
from support.flows.mirroring import Flow, Running
from support.flows.under_load import busy_workers, wait_for_same_length, writing
from support.waiting import eventually

_PARTITIONS = 2


def jvm() -> list[psutil.Process]:
    """Spark's, a child of this process."""
    children = psutil.Process().children()
    return [each for each in children if runs(each, "org.apache.spark.deploy.SparkSubmit")]


def kill_under_load(flow: Flow, find: Callable[[], list[psutil.Process]]) -> Running:
    """The mirror as it ended. How long nothing is copied: worker-kill and executor-kill of `make chaos`."""
    topic = flow.create(partitions=_PARTITIONS)
    with flow.running() as mirror:
        with writing(flow.source, topic, _PARTITIONS):
            mirror.wait_for_records(100)
            victims = find()
            assert victims
            for victim in victims:
                victim.kill()
            eventually(lambda: mirror.progress.restarts, lambda count: count > 0)
            mirror.wait_for_records(mirror.progress.records + 100)
        wait_for_same_length(flow, topic, _PARTITIONS)
        eventually(mirror.problems, lambda problems: not problems)

    assert flow.assert_mirrored(topic) > 200
    return mirror


def test_killed_workers_are_replaced(flow: Flow) -> None:
    assert kill_under_load(flow, busy_workers).progress.restarts == 1


def test_a_killed_jvm_is_replaced(flow: Flow) -> None:
    assert kill_under_load(flow, jvm).progress.restarts == 1


def test_workers_that_were_frozen_stop_when_they_go_on(flow: Flow) -> None:
    """By then their driver may have leased the partitions anew, as it may after a node's long pause."""
    topic = flow.create(partitions=_PARTITIONS)
    with flow.running() as mirror:
        with writing(flow.source, topic, _PARTITIONS):
            mirror.wait_for_records(100)
            frozen = busy_workers()
            assert frozen
            for worker in frozen:
                worker.send_signal(signal.SIGSTOP)
            try:
                time.sleep(SILENT_SECONDS + 1)
            finally:
                for worker in frozen:
                    worker.send_signal(signal.SIGCONT)
            eventually(lambda: mirror.progress.restarts, lambda count: count == 1)
            mirror.wait_for_records(mirror.progress.records + 100)
        wait_for_same_length(flow, topic, _PARTITIONS)

    assert flow.assert_mirrored(topic) > 200
