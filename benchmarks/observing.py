"""What scrapes and an open page cost: python -m benchmarks.observing

At rest, with 1,000 partitions: CPU seconds of the mirror and all its processes, in windows with and without
them. Under load: records per second and CPU seconds per GB of whole runs with and without them.

"With" is what an operator has: a scrape of /metrics every 10 s, the map and a flow open in two browsers,
live. The order changes from round to round, since other work on the machine comes and goes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

from confluent_kafka import Producer

from benchmarks.brokers import Brokers
from benchmarks.errors import BenchmarkError
from benchmarks.loading import Loaded, load
from benchmarks.running import Measures, measure_throughput, running
from benchmarks.shapes import SHAPES, Shape
from benchmarks.systems import Assignment, System
from harness.cluster_side import QUIET
from heliograph.embedded.ports import free_port

_TOPIC = "rest"
_SCRAPE_SECONDS = 10.0
_SETTLE_SECONDS = 20.0
_OPEN_SECONDS = 5.0
_NOTHING, _SCRAPES, _PAGES = _MODES = ("nothing", "scrapes", "scrapes and two pages")
_PATIENCE_SECONDS = 240.0
_HEADERS = {"live": {"accept": "text/event-stream"}, "scrape": {"accept": "text/plain"}}


class _Rest:
    """`LogEnds` of a run at rest: every partition has one record."""

    def __init__(self, count: int) -> None:
        self._count = count

    def total(self) -> int:
        return self._count


@contextmanager
def observed(base: str, flow: str, *, pages: bool) -> Iterator[None]:
    """One Prometheus and, with `pages`, two browsers, as far as the service can tell."""
    over = threading.Event()
    paths = ("/ui", f"/ui/flows/{flow.replace('>', '%3E')}") if pages else ()
    threads = [threading.Thread(target=_scrape, args=(base, over), daemon=True)]
    threads += [
        threading.Thread(target=_follow, args=(f"{base}{path}", over), daemon=True)
        for path in paths
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(_SCRAPE_SECONDS)


def _scrape(base: str, over: threading.Event) -> None:
    while not over.wait(_SCRAPE_SECONDS if _ask(f"{base}/metrics", "scrape") else 1.0):
        pass


def _follow(url: str, over: threading.Event) -> None:
    while not over.wait(1.0):
        try:
            asked = urllib.request.Request(url, headers=_HEADERS["live"])
            with urllib.request.urlopen(asked, timeout=30) as stream:
                while not over.is_set() and stream.readline():
                    pass
        except (URLError, OSError):
            continue  # it starts or stops


def _ask(url: str, kind: str) -> bool:
    try:
        asked = urllib.request.Request(url, headers=_HEADERS[kind])
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return bool(answer.read())
    except (URLError, OSError):
        return False


class Observing:
    def __init__(self, brokers: Brokers, folder: Path) -> None:
        self._brokers = brokers
        self._folder = folder
        self._runs = 0

    def _assignment(self, topic: str, **settings: str) -> tuple[Assignment, str]:
        self._runs += 1
        base = f"http://localhost:{free_port()}"
        run = f"o{self._runs}"
        found = Assignment(
            system=System.HELIOGRAPH,
            run=run,
            topic=topic,
            source=self._brokers.source.bootstrap,
            target=self._brokers.target.bootstrap,
            folder=self._folder / run,
            settings={"listeners": base, **{k.replace("_", "."): v for k, v in settings.items()}},
        )
        return found, base

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    def at_rest(self, partitions: int, seconds: float, rounds: int) -> dict[str, list[float]]:
        """CPU seconds per second, by what observes."""
        self._brokers.source.create(_TOPIC, partitions)
        _one_each(self._brokers.source.bootstrap, partitions)
        # Heartbeats are records, too.
        assignment, base = self._assignment(_TOPIC, emit_heartbeats_enabled="false")
        flow = f"{assignment.source_alias}->{assignment.target_alias}"
        found: dict[str, list[float]] = {each: [] for each in _MODES}
        with running(assignment, self._brokers, _Rest(partitions)) as run:
            _await_quiet(base, flow, partitions)
            time.sleep(_SETTLE_SECONDS)
            for number in range(rounds):
                for mode in reversed(_MODES) if number % 2 else _MODES:
                    run.raise_if_exited()
                    cpu = self._window(run.tree.cpu_seconds, base, flow, seconds, mode)
                    found[mode].append(cpu)
                    print(f"  at rest, {mode}: {100 * cpu:.2f} % of a core", flush=True)
        return found

    def _window(
        self, cpu: Callable[[], float], base: str, flow: str, seconds: float, mode: str
    ) -> float:
        if mode != _NOTHING:
            with observed(base, flow, pages=mode == _PAGES):
                time.sleep(_OPEN_SECONDS)  # streams are open
                return self._window(cpu, base, flow, seconds, _NOTHING)
        began, at = cpu(), time.monotonic()
        time.sleep(seconds)
        return (cpu() - began) / (time.monotonic() - at)

    # ── under load ───────────────────────────────────────────────────────────────────────────

    def under_load(self, loaded: Loaded, rounds: int) -> dict[bool, list[Measures]]:
        found: dict[bool, list[Measures]] = {True: [], False: []}
        for number in range(-1, rounds):  # the first warms brokers and page cache
            for observing in (True, False) if number % 2 else (False, True):
                self._brokers.clean([loaded.topic])
                assignment, base = self._assignment(loaded.topic)
                flow = f"{assignment.source_alias}->{assignment.target_alias}"
                if observing:
                    with observed(base, flow, pages=True):
                        measures = measure_throughput(assignment, self._brokers, loaded)
                else:
                    measures = measure_throughput(assignment, self._brokers, loaded)
                if number >= 0:
                    found[observing].append(measures)
                    print(f"  under load, {_word(observing)}: {measures}", flush=True)
        return found


def _one_each(bootstrap: str, partitions: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, **QUIET})
    for number in range(partitions):
        producer.produce(_TOPIC, b"a record", partition=number)
    if producer.flush(_PATIENCE_SECONDS):
        raise BenchmarkError(f"{_TOPIC}: records could not be written")


def _await_quiet(base: str, flow: str, partitions: int) -> None:
    quiet = re.compile(rf'heliograph_flow_state\{{flow="{re.escape(flow)}",.*state="quiet".*\}} 1')
    deadline = time.monotonic() + _PATIENCE_SECONDS
    text = ""
    while quiet.search(text) is None or text.count("heliograph_partition_position{") < partitions:
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{flow} is not quiet within {_PATIENCE_SECONDS:.0f} s")
        time.sleep(1.0)
        try:
            with urllib.request.urlopen(f"{base}/metrics", timeout=30) as answer:
                text = answer.read().decode()
        except (URLError, OSError):
            text = ""


def _word(observing: bool) -> str:
    return "with" if observing else "without"


def _report(rest: Mapping[str, list[float]], load_runs: Mapping[bool, list[Measures]]) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    today = datetime.datetime.now(datetime.UTC).date()
    print(f"\n{today}, commit {commit}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| | without | with | difference |\n|---|---:|---:|---:|")
    if rest:
        less = statistics.median(rest[_NOTHING])
        for mode in (_SCRAPES, _PAGES):
            more = statistics.median(rest[mode])
            print(
                f"| at rest: CPU, % of a core; with {mode} (median of {len(rest[mode])} windows) | "
                f"{100 * less:.2f} | {100 * more:.2f} | {100 * (more - less):+.2f} points |"
            )
    for key, title in (
        ("records_per_s", "records per second"),
        ("cpu_s_per_gb", "CPU seconds per GB"),
    ):
        values = {
            w: [float(m[key] or 0) for m in load_runs[w] if m.get(key)] for w in (True, False)
        }
        if values[True] and values[False]:
            less, more = (statistics.median(values[each]) for each in (False, True))
            print(
                f"| under load: {title} (median of {len(values[True])} runs) | {less:,.3g} | "
                f"{more:,.3g} | {100 * (more / less - 1):+.1f} % |"
            )


def _shape(records: int) -> Shape:
    return replace(next(each for each in SHAPES if each.headline), records=records)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--partitions", type=int, default=1_000)
    options.add_argument("--seconds", type=float, default=60.0, help="of a window at rest")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--records", type=int, default=4_000_000, help="of a run under load")
    given = options.parse_args()
    rest: Mapping[str, list[float]] = {}
    runs: Mapping[bool, list[Measures]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as folder, Brokers() as brokers:
        observing = Observing(brokers, Path(folder))
        if given.partitions:
            rest = observing.at_rest(given.partitions, given.seconds, given.rounds)
        if given.records:
            brokers.clean([])
            loaded = load(brokers.source, _shape(given.records))
            runs = observing.under_load(loaded, given.rounds)
    _report(rest, runs)


if __name__ == "__main__":
    main()
