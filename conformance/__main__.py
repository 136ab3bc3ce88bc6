"""Sends the same requests to a Java worker and to ours: python -m conformance. Exit code 1 for unlisted
differences."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from conformance.answer import Answer
from conformance.errors import ConformanceError
from conformance.exchange import Exchange
from conformance.golden import GOLDEN, read_golden, write_golden
from conformance.known import read_known
from conformance.report import compare_all
from conformance.sequence import PARTS, SEQUENCE
from conformance.stage import System, stage
from conformance.step import Step
from heliograph.embedded.jars import KAFKA_VERSION
from heliograph.errors import HeliographError

_WORK = Path(__file__).parent / "work"
_LONG_SECONDS = 5.0


def main() -> int:
    arguments = _arguments()
    folder = _WORK / time.strftime("%Y%m%d-%H%M%S")
    try:
        if arguments.record:
            write_golden(GOLDEN, KAFKA_VERSION, _answers(System.JAVA, folder))
            return 0
        java = read_golden() if arguments.golden else _answers(System.JAVA, folder)
        ours = _answers(System.OURS, folder)
    except (ConformanceError, HeliographError) as e:
        print(f"{e}", file=sys.stderr)
        return 1
    report = compare_all(java, ours, read_known())
    print("\n".join(report.lines()))
    return 1 if report.unlisted else 0


def _answers(system: System, folder: Path) -> dict[str, Answer]:
    print(f"{system}: starting two clusters and a worker ({folder / system})", flush=True)
    progress = _Progress(system)
    try:
        with stage(system, folder / system) as worker:
            Exchange(worker.url, worker.clusters).ask_all(SEQUENCE, progress)
    finally:
        write_golden(folder / system / "answers.json", KAFKA_VERSION, progress.answers)
    return progress.answers


class _Progress:
    """Keeps the answers; prints a line for each part of the sequence, and for a step above 5 s."""

    def __init__(self, system: System) -> None:
        self._ends = {part[-1].name: title for title, part in PARTS.items()}
        self._system = system
        self._last = time.monotonic()
        self.answers: dict[str, Answer] = {}

    def __call__(self, step: Step, answer: Answer) -> None:
        self.answers[step.name] = answer
        seconds, self._last = time.monotonic() - self._last, time.monotonic()
        where = f"{self._system}: {len(self.answers)} of {len(SEQUENCE)}"
        if seconds > _LONG_SECONDS and len(self.answers) > 1:
            print(f"{where}: {step.name}: {seconds:.0f} s", flush=True)
        if step.name in self._ends:
            print(f"{where}: {self._ends[step.name]}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument(
        "--record",
        action="store_true",
        help="run only the Java worker, and write its answers to golden.json",
    )
    parser.add_argument(
        "--golden", action="store_true", help="run only our worker, and compare it with golden.json"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
