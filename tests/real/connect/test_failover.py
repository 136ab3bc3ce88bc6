"""Two workers of `heliograph serve` as processes: one leads, the other stands by and takes over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heliograph.embedded.ports import free_port
from heliograph.embedded.properties import render_properties
from support.clusters.reading import offsets
from support.flows.mirroring import Flow
from support.flows.under_load import wait_for_same_length, writing
from support.java.connect_worker import Rest
from support.rest.workers import connector, worker_properties
from support.waiting import PATIENCE_SECONDS, eventually

_PARTITIONS = 2


class Served:
    def __init__(self, properties: Mapping[str, str], folder: Path) -> None:
        self.rest = Rest(free_port())
        self.log = folder / f"serve-{self.rest.port}.log"
        self.log_dir = folder / f"logs-{self.rest.port}"
        path = folder / f"serve-{self.rest.port}.properties"
        listeners = {"listeners": f"http://127.0.0.1:{self.rest.port}"}
        path.write_text(render_properties({**properties, **listeners}))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "heliograph", "serve", str(path)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "LOG_DIR": str(self.log_dir)},
            )

    @property
    def leads(self) -> bool:
        """By the log, since REST shows no difference."""
        return "leads the group" in self.log.read_text()

    def stop(self) -> int:
        """In order; its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def served(flow: Flow) -> Iterator[Served]:
    one = Served(worker_properties(flow), flow.folder)
    try:
        yield one
    except BaseException as e:
        e.add_note(one.log.read_text()[-4000:])
        raise
    finally:
        one.process.kill()
        one.process.wait()


def copied(flow: Flow, topic: str) -> int:
    return sum(offsets(flow.target, flow.remote(topic), p)[1] for p in range(_PARTITIONS))


def test_the_other_worker_goes_on_when_the_leading_one_is_killed(flow: Flow) -> None:
    """How soon a successor goes on: two-services of `make chaos`."""
    topic = flow.create("orders", _PARTITIONS)
    with served(flow) as leading, served(flow) as standing_by:
        _creates_as_soon_as_it_answers(flow, leading)
        leading, standing_by = _in_order(leading, standing_by)
        with writing(flow.source, topic, _PARTITIONS):
            leading.rest.await_running("msc", tasks=2)
            _answers_for_the_other(flow, standing_by)
            eventually(lambda: copied(flow, topic), lambda count: count > 0)

            leading.process.kill()
            leading.process.wait()
            before = copied(flow, topic)

            eventually(lambda: standing_by.leads, bool)
            standing_by.rest.await_running("msc", tasks=2)
            eventually(lambda: copied(flow, topic), lambda count: count > before)
        wait_for_same_length(flow, topic, _PARTITIONS)
        flow.assert_mirrored(topic)
        assert standing_by.stop() == 0
        _has_logged_what_guides_look_for(standing_by)


def _has_logged_what_guides_look_for(one: Served) -> None:
    logged = (one.log_dir / "connect.log").read_text()
    for line in (
        "INFO Herder starting",
        "INFO Herder started",
        "INFO Starting connectors and tasks using config offset ",
        "INFO Starting connector msc",
    ):
        assert line in logged, logged
    assert "NOT_COORDINATOR" not in logged


def _creates_as_soon_as_it_answers(flow: Flow, one: Served) -> None:
    """The request waits until the worker has read its topics and its group has a leader."""
    eventually(lambda: one.rest.ask("GET", "/")[0], lambda status: status == 200)
    config = connector(flow, "Source")
    status, document = one.rest.ask("PUT", "/connectors/msc/config", config)
    assert (status, document["name"]) == (201, "msc"), document


def _in_order(one: Served, other: Served) -> tuple[Served, Served]:
    """Who leads, who stands by, once that is settled."""
    for each in (one, other):
        each.rest.await_answer()
    leads = eventually(lambda: [each for each in (one, other) if each.leads], bool)
    return (one, other) if leads == [one] else (other, one)


def _answers_for_the_other(flow: Flow, standing_by: Served) -> None:
    """What only the leader can do is forwarded to it."""
    rest = standing_by.rest
    eventually(lambda: rest.ask("GET", "/connectors")[1], lambda names: names == ["msc"])
    config = connector(flow, "Heartbeat")
    assert rest.ask("POST", "/connectors", {"name": "hbc", "config": config})[0] == 201
    assert sorted(rest.ask("GET", "/connectors")[1]) == ["hbc", "msc"]
