"""Many seeds, on all cores that are wanted: what happened in them, and which violated a law."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pool

from simulation.scenarios import SCENARIOS, Delivery
from simulation.simulate import Run, simulate

_CHUNK = 5
_PROGRESS_SECONDS = 5.0
#: New objects between two collections: a run leaves few cycles behind, and a tenth of its time went there.
_GARBAGE = 50_000

Job = tuple[str, int, Delivery]


@dataclass
class Summary:
    """Of the runs so far."""

    seeds: int = 0
    records: int = 0
    violations: int = 0
    happened: Counter[str] = field(default_factory=Counter)

    def add(self, run: Run) -> None:
        self.seeds += 1
        self.records += run.records
        self.violations += len(run.violations)
        self.happened += run.happened

    def __str__(self) -> str:
        return f"{self.seeds} seeds, {self.records} records, {self.violations} violations"


def sweep(
    seeds: range,
    names: Sequence[str],
    jobs: int,
    delivery: Delivery = Delivery.AT_LEAST_ONCE,
) -> int:
    """Prints each violation when it is found, and the summary at last; 1 if there were violations."""
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    began = shown = time.monotonic()
    summary, wanted = Summary(), [(name, seed, delivery) for name in names for seed in seeds]
    for run in _runs(wanted, jobs):
        summary.add(run)
        if run.violations:
            print(f"{run}\n    to replay it: {replay(run, delivery)}", flush=True)
        if time.monotonic() - shown >= _PROGRESS_SECONDS:
            shown = time.monotonic()
            print(f"{summary} of {len(wanted)} seeds so far", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - began) / 60
    print(summary)
    faults = ", ".join(f"{name} {count}" for name, count in sorted(summary.happened.items()))
    print(f"{faults}; {minutes:.1f} minutes")
    return bool(summary.violations)


def replay(run: Run, delivery: Delivery) -> str:
    command = f"PYTHONPATH=tests .venv/bin/python -m simulation --trace {run.scenario} {run.seed}"
    return command if delivery is Delivery.AT_LEAST_ONCE else f"{command} --delivery {delivery}"


def _runs(wanted: Sequence[Job], jobs: int) -> Iterator[Run]:
    if jobs == 1:
        yield from map(_run, wanted)
        return
    with Pool(jobs) as pool:
        yield from pool.imap(_run, wanted, _CHUNK)


def _run(job: Job) -> Run:
    """Without its history, which a replay shows: it would be sent from one process to another."""
    name, seed, delivery = job
    return simulate(seed, SCENARIOS[name], delivery).without_history()
