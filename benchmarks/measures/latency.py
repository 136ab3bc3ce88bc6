"""Measures the latency of a mirror: from the producer's send on the source to a consumer on the target."""

from __future__ import annotations

import re
import sys
import time
from array import array
from contextlib import ExitStack
from pathlib import Path

from benchmarks.brokers import Brokers
from benchmarks.errors import BenchmarkError
from benchmarks.running import Mark, Measures, Run, running
from benchmarks.shapes import Shape
from benchmarks.systems import Assignment, System
from harness.processes import running_child

_SCRIPT = str(Path(__file__).with_name("latency_client.py"))
_WARM_SECONDS = 20.0
_ARRIVE_SECONDS = 3.0
_EPOCH = re.compile(r"\bepoch (\d+)\b")
_PERCENTILES = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "p999_ms": 0.999, "max_ms": 1.0}


def measure_latency(
    assignment: Assignment, brokers: Brokers, shape: Shape, seconds: float
) -> Measures:
    """Percentiles over the records sent in `seconds`, from 20 s after the first arrival."""
    brokers.source.create(assignment.topic, shape.partitions)
    assignment.folder.mkdir(parents=True, exist_ok=True)
    arrivals = assignment.folder / "arrivals"
    bootstrap = (brokers.source.bootstrap, brokers.target.bootstrap)
    with ExitStack() as stack:
        consumer = _client("consume", bootstrap[1], assignment.remote_topic, str(arrivals))
        reading = stack.enter_context(running_child(consumer, assignment.folder / "consumer.log"))
        producer = _client("produce", bootstrap[0], assignment.topic, str(shape.rate))
        stack.enter_context(running_child(producer, assignment.folder / "producer.log"))
        run = stack.enter_context(running(assignment, brokers))
        first = run.wait_for(1)
        time.sleep(_WARM_SECONDS)
        begin, begin_mark, begin_epochs = time.time_ns(), run.mark(), _epochs(assignment)
        _sleep(run, seconds)
        end, end_mark, end_epochs = time.time_ns(), run.mark(), _epochs(assignment)
        time.sleep(_ARRIVE_SECONDS)
        reading.terminate()
        if not reading.wait(30):
            raise BenchmarkError("the consumer on the target did not end within 30 s")
        peak = run.tree.peak_rss_bytes
    measures: Measures = {
        "first_record_s": round(first.at - run.started, 2),
        "peak_rss_mb": round(peak / 1e6),
        **_cores(begin_mark, end_mark),
        **summarise(_read(arrivals), begin, end),
    }
    if assignment.system is System.HELIOGRAPH:
        measures["epoch_changes"] = len(end_epochs - begin_epochs)
    return measures


def _client(*arguments: str) -> list[str]:
    return [sys.executable, _SCRIPT, *arguments]


def _sleep(run: Run, seconds: float) -> None:
    """Raises within a second if the mirror exits."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        run.raise_if_exited()
        time.sleep(min(1.0, left))


def _cores(begin: Mark, end: Mark) -> Measures:
    return {"cpu_cores": round((end.cpu - begin.cpu) / (end.at - begin.at), 3)}


def _read(file: Path) -> array[int]:
    seen: array[int] = array("q")
    seen.frombytes(file.read_bytes())
    return seen


def summarise(seen: array[int], begin: int, end: int) -> Measures:
    """`seen` has number, send time and arrival of each record; records sent from `begin` to `end` count."""
    times = zip(seen[0::3], seen[1::3], seen[2::3], strict=True)
    first_arrival: dict[int, int] = {}
    duplicates = 0
    for number, sent, arrived in times:
        if begin <= sent < end:
            duplicates += number in first_arrival
            first_arrival.setdefault(number, arrived - sent)
    if not first_arrival:
        raise BenchmarkError("no record sent in the measured time arrived")
    latencies = sorted(first_arrival.values())
    expected = max(first_arrival) - min(first_arrival) + 1
    result: Measures = {
        name: round(latencies[min(len(latencies) - 1, int(len(latencies) * share))] / 1e6, 1)
        for name, share in _PERCENTILES.items()
    }
    result["records"] = len(latencies)
    result["missing_records"] = expected - len(latencies)
    result["surplus_records"] = duplicates
    return result


def _epochs(assignment: Assignment) -> set[int]:
    """The epochs in Heliograph's log so far: it logs `epoch N` when one begins."""
    log = assignment.output.read_text(errors="replace")
    return {int(number) for number in _EPOCH.findall(log)}
