"""The supervisor's thread continues, and reports the error, whatever a round raises."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.connect.supervisor import Supervisor
from support.configurations.forms_files import SOURCE, worker


class Scripted(Supervisor):
    """Its rounds raise what they are given, one after the other, and then succeed."""

    def __init__(self, *failures: BaseException) -> None:
        nothing: Any = SimpleNamespace(
            worker=SimpleNamespace(leaderships=[None]), refusal=lambda _job: self.refusal
        )
        super().__init__(worker(), "w:8083", nothing, nothing, nothing, nothing, lambda *_: None)
        self.refusal: str | None = None
        self.failures = list(failures)
        self.troubles: list[str | None] = []
        self.succeeded = threading.Event()

    def _round(self) -> None:
        self.troubles.append(self.trouble)
        if self.failures:
            self.wake()  # without the pause
            raise self.failures.pop(0)
        self.succeeded.set()

    def read(self, config: Mapping[str, str]) -> str | None:
        return self._read("c", config).failure


def test_no_exception_ends_the_thread() -> None:
    supervisor = Scripted(SystemExit(1), KeyboardInterrupt(), GeneratorExit(), ValueError("odd"))
    supervisor.start()

    assert supervisor.succeeded.wait(60)
    supervisor._ended.set()
    supervisor.wake()
    supervisor.join(60)
    assert not supervisor.is_alive()
    assert [str(each).partition(": ")[2] for each in supervisor.troubles[1:]] == [
        "SystemExit: 1",
        "KeyboardInterrupt: ",
        "GeneratorExit: ",
        "ValueError: odd",
    ]
    assert supervisor.trouble is None


def test_a_connector_that_cannot_even_be_read_is_failed_and_hinders_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("odd")

    supervisor = Scripted()
    assert supervisor.read(SOURCE) is None
    monkeypatch.setattr("heliograph.connect.supervisor.read_connector", broken)

    assert supervisor.read(dict(SOURCE, topics="a")) == (
        "connector c: unexpected failure: RuntimeError: odd"
    )


def test_a_connector_of_the_config_topic_is_held_to_what_rest_may_name() -> None:
    config = {
        **SOURCE,
        "source.cluster.security.protocol": "SSL",
        "source.cluster.ssl.truststore.location": "/etc/shadow",
    }

    failure = Scripted().read(config)

    assert failure is not None
    assert "rest.connector.allowed.paths" in failure


def test_a_connector_that_may_not_run_on_this_spark_is_failed_and_says_why() -> None:
    one = Scripted()

    assert one._read("c", SOURCE).job is not None
    one.refusal = "flow c: Spark at spark://head:7077: expected spark.authenticate=true"
    refused = one._read("d", SOURCE)

    assert refused.job is None
    assert refused.failure == one.refusal
