"""What MM2 leaves to `Scheduler`: work that recurs, and fails without stopping anything else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping

import pytest

from heliograph.errors import ConnectionLost, NotKafka
from heliograph.runtime.connectors.schedule import Schedule
from heliograph.runtime.problems import Problems
from support.waiting import PATIENCE_SECONDS


class Run:
    """A schedule whose threads end with the test."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.stop = threading.Event()
        self.schedule = Schedule("test", self.problems, self.stop)


@pytest.fixture
def run() -> Iterator[Run]:
    made = Run()
    yield made
    made.stop.set()
    made.schedule.join(PATIENCE_SECONDS)
    assert not made.schedule.running


def test_a_job_recurs_and_its_failure_is_a_problem_until_it_works_again(run: Run) -> None:
    """MirrorCheckpointConnectorTest.testConsumerGroupInitializeTimeout: a cluster that does not answer
    is asked again; what came after it in MM2, no tasks, is a problem in sight here."""
    answers = iter([ConnectionLost("source: no answer"), None])
    failed, seen, worked = threading.Event(), threading.Event(), threading.Event()

    def groups() -> Mapping[str, str]:
        answer = next(answers, None)
        if answer is not None:
            raise answer
        failed.set()  # the second time: the problem of the first one is visible by then
        seen.wait(PATIENCE_SECONDS)
        return {}

    def after() -> Mapping[str, str]:
        if failed.is_set() and not run.problems.sentences():
            worked.set()
        return {}

    run.schedule.every(0.001, "flow a->b: groups", groups)
    run.schedule.every(0.001, "flow a->b: checkpoints", after)
    run.schedule.start()

    assert failed.wait(PATIENCE_SECONDS)
    assert run.problems.sentences() == ["flow a->b: groups: source: no answer; retrying"]
    seen.set()
    assert worked.wait(PATIENCE_SECONDS)


def test_what_trying_again_cannot_mend_is_not_promised_to_be_tried(run: Run) -> None:
    def fails() -> Mapping[str, str]:
        raise NotKafka("source: not a broker's port")

    run.schedule.every(1.0, "flow a->b: ACLs", fails)
    run.schedule.run_all()

    assert run.problems.sentences() == ["flow a->b: ACLs: source: not a broker's port"]


def test_an_unexpected_failure_stops_no_other_job(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    done = []

    def fails() -> Mapping[str, str]:
        raise ZeroDivisionError("oh")

    def works() -> Mapping[str, str]:
        done.append("it")
        return {"orders": "refused"}

    run.schedule.every(1.0, "first", fails)
    run.schedule.every(1.0, "second", works)
    run.schedule.run_all()

    assert done == ["it"]
    assert run.problems.sentences() == [
        "first: unexpected failure: ZeroDivisionError: oh",
        "second: refused",
    ]
    assert "Traceback" in caplog.text


def test_a_job_that_is_switched_off_never_runs(run: Run) -> None:
    """An interval of None: `.enabled` is false, or the interval -1."""
    done = []

    def works() -> Mapping[str, str]:
        done.append("it")
        return {}

    run.schedule.every(None, "group offsets", works)
    run.schedule.run_all()
    run.schedule.start()

    assert not done


def test_a_job_may_have_to_wait_for_its_first_time(run: Run) -> None:
    """As MM2's group offsets, first committed after one interval."""
    order: list[str] = []
    done = threading.Event()

    def job(name: str) -> Mapping[str, str]:
        order.append(name)
        if name == "later":
            done.set()
        return {}

    run.schedule.every(60.0, "later", lambda: job("later"), first_after=0.05)
    run.schedule.every(60.0, "at once", lambda: job("at once"))
    run.schedule.start()

    assert done.wait(PATIENCE_SECONDS)
    assert order == ["at once", "later"]


def test_a_question_that_a_stop_cut_short_is_no_problem(run: Run) -> None:
    def cut_short() -> Mapping[str, str]:
        run.stop.set()
        raise ConnectionLost("source: stopped")

    run.schedule.every(1.0, "groups", cut_short)
    run.schedule.run_all()

    assert run.problems.sentences() == []


def test_how_long_a_job_took_is_logged_at_debug(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    run.schedule.every(60.0, "flow a->b: checkpoints", dict)

    with caplog.at_level(logging.DEBUG):
        run.schedule.run_all()

    took = [each for each in caplog.records if each.getMessage().endswith(" ms")]
    assert [each.levelname for each in took] == ["DEBUG"]
    assert took[0].getMessage().startswith("flow a->b: checkpoints took ")
