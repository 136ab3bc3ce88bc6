"""The live view of `heliograph run` on a terminal, with clusters that freeze."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from heliograph.embedded import Cluster, start_all, stop_all
from scripts.run_picture import Terminal, is_ok, plain
from support.clusters.writing import create_topics, numbered, write
from support.waiting import eventually


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Cluster, Cluster]]:
    """Of its own: brokers are frozen."""
    clusters = Cluster("home"), Cluster("cloud")
    try:
        start_all(clusters)
        yield clusters
    finally:
        stop_all(clusters)


@contextmanager
def frozen(cluster: Cluster) -> Iterator[None]:
    for pid in cluster.pids.values():
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in cluster.pids.values():
            os.kill(pid, signal.SIGCONT)


def until(terminal: Terminal, wanted: Callable[[list[str]], bool]) -> list[str]:
    def screen() -> list[str]:
        terminal.read(0.2)
        return [plain(line) for line in terminal.screen.view]

    return eventually(screen, wanted)


def has(text: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(text in line for line in lines)


def see_it_from_elsewhere(file: Path) -> None:
    """`heliograph top` shows the same mirror; its key q ends the view only."""
    watching = Terminal(heliograph_command("top", str(file), "--interval", "0.5"))
    try:
        until(watching, has("home->cloud  RUNNING"))
        until(watching, lambda lines: sum(map(is_ok, lines)) >= 2)
        watching.press("?")
        until(watching, has("quit; the mirror runs on"))
        watching.press("q")
        with pytest.raises(HarnessError):  # it has exited
            until(watching, lambda lines: False)
    finally:
        code = watching.stop()
    assert code == 0


def test_states_health_keys_and_a_resize(pair: tuple[Cluster, Cluster], tmp_path: Path) -> None:
    home, cloud = pair
    create_topics(home, {"orders": 1, "payments": 1})
    write(home, "orders", numbered(range(5)))
    properties = mirror_properties(
        ("home", home.bootstrap_servers),
        ("cloud", cloud.bootstrap_servers),
        "orders,payments",
        replicas=1,
    )
    file = write_mirror_file(tmp_path, {**properties, "listeners": ""})
    terminal = Terminal(heliograph_command("run", str(file)))
    try:
        first = until(terminal, lambda lines: any("home->cloud  " in line for line in lines))
        assert not any(map(is_ok, first))  # a state, before anything is copied
        until(terminal, lambda lines: sum(map(is_ok, lines)) >= 2)
        until(terminal, has("home->cloud  copying"))
        see_it_from_elsewhere(file)

        with frozen(cloud):
            shown = until(terminal, has("cloud no answer for"))
            assert not any(map(is_ok, shown))
        until(terminal, lambda lines: sum(map(is_ok, lines)) >= 2)
        with frozen(home):
            assert not any(map(is_ok, until(terminal, has("home no answer for"))))

        terminal.press("/pay\r")
        until(terminal, lambda lines: has("filter (pay)")(lines) and not has("orders ")(lines))
        terminal.press("?")
        until(terminal, has("hold the screen"))
        terminal.press("?")
        terminal.resize(60)
        narrow = until(terminal, lambda lines: bool(lines) and max(map(len, lines)) <= 60)
        assert not has("partitions")(narrow)

        terminal.press("q")
        with pytest.raises(HarnessError, match=r"mirrored \d+ records; offsets are stored"):
            until(terminal, lambda lines: False)
    finally:
        code = terminal.stop()
    assert code == 0
    text = "\n".join(map(plain, terminal.screen.lines))
    assert re.search(r"filter.*\n+mirrored", text)  # below the view
