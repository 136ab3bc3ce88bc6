"""Measures every system on every shape, one at a time, on the same brokers: python -m benchmarks."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.brokers import Brokers
from benchmarks.loading import Loaded, load, warm
from benchmarks.measures.latency import measure_latency
from benchmarks.measures.many_topics import QUICK, Pace, measure_many_topics, warm_many
from benchmarks.measures.resume import measure_resume
from benchmarks.picture import draw
from benchmarks.report import own_table, table, targets, versions
from benchmarks.results import Results
from benchmarks.running import Measures, measure_throughput
from benchmarks.shapes import SHAPES, Shape, named
from benchmarks.systems import EARLIER, Assignment, System
from harness.errors import HarnessError
from harness.text import say
from heliograph.errors import HeliographError

_ROOT = Path(__file__).parent
_OUT = _ROOT / "results" / "latest.json"
_PICTURE = _ROOT.parent / "docs" / "images" / "benchmark.png"
# Apart from the results in the repository.
_QUICK_OUT = _ROOT / "work" / "quick.json"
_BEFORE_OUT = _ROOT / "results" / "before.json"
_SYSTEMS = ("mm2", "mm2-tuned", "raw-copy", "heliograph", "heliograph-eos")
#: For shapes in which neither a tuned MM2 nor the bare copy loop would give new figures.
_LIVE_SYSTEMS = (System.HELIOGRAPH, System.MM2)
# Two changes of epoch within the measured time: epochs of 240 s in 600 s.
_EPOCH_SHARE = 0.4
_QUICK_LATENCY_SECONDS = 30.0
_WARM_UP_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    shapes: Sequence[Shape]
    systems: Sequence[System]
    rounds: int
    latency_seconds: float
    pace: Pace
    processes: int
    before: Path | None
    out: Path
    merge: bool
    picture: Path

    def runs(self, shape: Shape) -> Iterator[tuple[int, System]]:
        """Rounds of all systems. The system that runs first changes from round to round."""
        live = shape.own_topics or shape.killed
        systems = [s for s in self.systems if not live or s in _LIVE_SYSTEMS]
        for number in range(self.rounds if shape.headline else 1):
            first = number % max(1, len(systems))
            for system in [*systems[first:], *systems[:first]]:
                yield number + 1, system


class Bench:
    def __init__(self, plan: Plan, brokers: Brokers) -> None:
        self._plan = plan
        self._brokers = brokers
        self._results = Results(plan.out, merge=plan.merge)
        self._series = time.strftime("%Y%m%d-%H%M%S")
        self._count = 0

    def run(self) -> Results:
        """Results are written after every run, so that an interruption loses one run at most."""
        self._warm()
        for shape in self._plan.shapes:
            loaded = self._load(shape)
            if shape.headline and loaded is not None:
                self._warm_up(shape, loaded)
            for number, system in self._plan.runs(shape):
                measures = self._measure(shape, system, loaded)
                if measures is not None:
                    self._results.add(shape.name, system, measures)
                    self._results.write()
                say(f"{shape.name}, round {number}, {system}: {_brief(measures)}")
                self._brokers.clean([shape.name])
            self._brokers.clean([])
        return self._results

    def _warm(self) -> None:
        say("warming the brokers")
        shape = replace(SHAPES[0].quick(), name="warm-up")
        for side in (self._brokers.source, self._brokers.target):
            warm(side, shape)
        self._brokers.clean([])

    def _warm_up(self, shape: Shape, loaded: Loaded) -> None:
        """Runs that are not recorded: a broker's CPU halves over the first two runs of a shape, as its JVM
        compiles the code, so that the first systems would get worse figures."""
        systems = [System.RAW_COPY] * _WARM_UP_RUNS
        if System.HELIOGRAPH_EOS in self._plan.systems:
            systems.append(System.HELIOGRAPH_EOS)  # transactions run other code of the brokers
        for system in systems:
            measures = self._measure(shape, system, loaded)
            say(f"{shape.name}, warm-up: {_brief(measures)}")
            self._brokers.clean([shape.name])

    def _load(self, shape: Shape) -> Loaded | None:
        """None for a shape whose runs create their own source topics."""
        if shape.own_topics:
            if shape.topics > 1:
                say(f"{shape.name}: {shape.about}; warming the target")
                warm_many(self._brokers, shape)
            return None
        loaded = load(self._brokers.source, shape)
        say(
            f"{shape.name}: {shape.about}; {loaded.records:,} records, "
            f"{loaded.payload_bytes / 1e6:,.0f} MB of values"
        )
        self._brokers.clean([shape.name])
        return loaded

    def _measure(self, shape: Shape, system: System, loaded: Loaded | None) -> Measures | None:
        self._count += 1
        seconds = self._plan.latency_seconds
        assignment = Assignment(
            system=system,
            run=f"r{self._count}",
            topic=shape.name,
            source=self._brokers.source.bootstrap,
            target=self._brokers.target.bootstrap,
            folder=_ROOT / "work" / self._series / f"r{self._count}-{shape.name}-{system}",
            epoch_seconds=None if shape.rate is None else max(5, int(seconds * _EPOCH_SHARE)),
            processes=self._plan.processes,
            python=self._plan.before if system in EARLIER.values() else None,
        )
        try:
            if loaded is None:
                fresh = replace(assignment, topic=f"{shape.name}-{assignment.run}")
                if shape.topics > 1:
                    return measure_many_topics(fresh, self._brokers, shape, self._plan.pace)
                return measure_latency(fresh, self._brokers, shape, seconds)
            if shape.killed:
                return measure_resume(assignment, self._brokers, loaded)
            return measure_throughput(assignment, self._brokers, loaded)
        except HarnessError as e:
            say(f"{shape.name}, {system}: FAILED: {e} (see {assignment.folder})")
            return None


def _brief(measures: Measures | None) -> str:
    if measures is None:
        return "no figures"
    return ", ".join(f"{name} {value:,}" for name, value in measures.items() if value is not None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    names = ",".join(shape.name for shape in SHAPES)
    add("--shapes", default=names, help="default: %(default)s")
    add("--systems", default=",".join(_SYSTEMS), help="default: %(default)s")
    add("--rounds", type=int, default=3, help="rounds of the first two shapes; the others have one")
    add("--latency-seconds", type=float, default=600.0)
    add(
        "--processes",
        type=int,
        default=1,
        help="processes of raw-copy; heliograph has one task for two cores",
    )
    add(
        "--before",
        type=Path,
        metavar="CHECKOUT",
        help="checkout of another version, with its .venv: only both versions are measured, in turn",
    )
    add("--quick", action="store_true", help="a tenth of it, one round, 30 s of latency")
    add("--out", type=Path, help=f"default: {_OUT}; with --quick {_QUICK_OUT}")
    add("--merge", action="store_true", help="keep rows of --out that are not measured again")
    add("--picture", type=Path, help=f"default: {_PICTURE}; with --quick beside --out")
    return parser


def _plan(arguments: Sequence[str] | None) -> Plan:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        shapes = named(options.shapes.split(","))
        systems = [System(name) for name in options.systems.split(",")]
    except (KeyError, ValueError) as e:
        parser.error(f"unknown shape or system: {e}")
    quick = options.quick
    before = options.before and options.before / ".venv" / "bin" / "python"
    if before is not None:
        if not before.exists():
            parser.error(
                f"--before: expected an environment, found no {before}; run make .venv/.ready there"
            )
        systems = [each for pair in EARLIER.items() if pair[0] in systems for each in pair]
    out = options.out or (_QUICK_OUT if quick else _BEFORE_OUT if before else _OUT)
    return Plan(
        shapes=[shape.quick() for shape in shapes] if quick else shapes,
        systems=systems,
        rounds=1 if quick else options.rounds,
        latency_seconds=_QUICK_LATENCY_SECONDS if quick else options.latency_seconds,
        pace=QUICK if quick else Pace(),
        processes=options.processes,
        before=before,
        out=out,
        merge=options.merge,
        picture=options.picture or (_PICTURE if out == _OUT else out.with_suffix(".png")),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when there are figures; missed targets do not change the exit code."""
    plan = _plan(arguments)
    try:
        with Brokers() as brokers:
            results = Bench(plan, brokers).run()
    except (HeliographError, HarnessError) as e:
        print(f"benchmark: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; what was measured is in {plan.out}", file=sys.stderr)
        return 130
    rows = results.rows()
    parts = [table(rows), own_table(rows), versions(rows) if plan.before else targets(rows)]
    print("\n" + "\n\n".join(filter(None, parts)) + "\n")
    if plan.before is None and draw(rows, plan.picture):
        print(f"picture: {plan.picture}")
    print(f"results: {plan.out}")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
