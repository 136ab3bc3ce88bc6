"""Collects the rows of the results file: one per shape and system, medians over the rounds."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measures.job_log import JOBS, mean
from benchmarks.running import Measures
from benchmarks.shapes import SHAPES
from benchmarks.systems import System
from harness.results import machine, write_json

Row = dict[str, Any]

FIGURES = (
    "records_per_s",
    "mb_per_s",
    "cpu_s_per_gb",
    "p50_ms",
    "p99_ms",
    "p999_ms",
    "first_record_s",
    "peak_rss_mb",
)
#: Figures of shapes with many topics.
MANY_FIGURES = (
    "first_record_s",
    "all_copied_s",
    "all_groups_s",
    "all_checkpoints_s",
    "new_topic_s",
    "offset_syncs_s",
    "checkpoints_s",
    "checkpoint_cycle_s",
    "group_offsets_s",
    *JOBS,
    *map(mean, JOBS),
    "idle_cpu_s",
    "peak_rss_mb",
    "copied_rss_mb",
    "end_rss_mb",
)
#: Figures of a mirror that was killed and started again.
RESUME_FIGURES = (
    "resumed_s",
    "resume_s",
    "resume_s_per_100",
    "dropped_records",
    "surplus_records",
)
MANY = frozenset(shape.name for shape in SHAPES if shape.topics > 1)
RESUME = frozenset(shape.name for shape in SHAPES if shape.killed)
#: Shapes that have figures of their own.
OWN_FIGURES = dict.fromkeys(MANY, MANY_FIGURES) | dict.fromkeys(RESUME, RESUME_FIGURES)
_SHAPES = [shape.name for shape in SHAPES]
_SYSTEMS = list(System)


def late(figure: str) -> str:
    """The key that marks a figure as a lower bound: the wait for it timed out."""
    return f"{figure}_late"


def is_late(row: Row, figure: str) -> bool:
    return any(each.get(late(figure)) for each in row["rounds"])


class Results:
    """Grows run by run; `write` replaces the file in one step."""

    def __init__(self, file: Path, *, merge: bool) -> None:
        self._file = file
        self._rounds: dict[tuple[str, str], list[Measures]] = {}
        self._earlier: list[Row] = []
        if merge and file.is_file():
            self._earlier = json.loads(file.read_text())

    def add(self, shape: str, system: System, measures: Measures) -> None:
        self._rounds.setdefault((shape, system.value), []).append(measures)

    def rows(self) -> list[Row]:
        """The rows of this series, and rows of an earlier one that this one did not measure."""
        kept = [row for row in self._earlier if _key(row) not in self._rounds]
        rows = [_row(*key, rounds) for key, rounds in self._rounds.items()]
        return sorted([*kept, *rows], key=_place)

    def write(self) -> None:
        write_json(self._file, self.rows())
        write_json(self._file.with_suffix(".machine.json"), machine())


def _key(row: Row) -> tuple[str, str]:
    return row["shape"], row["system"]


def _place(row: Row) -> tuple[int, int]:
    shape, system = _key(row)
    return (
        _SHAPES.index(shape) if shape in _SHAPES else len(_SHAPES),
        _SYSTEMS.index(System(system)),
    )


def _row(shape: str, system: str, rounds: Sequence[Measures]) -> Row:
    figures = OWN_FIGURES.get(shape, FIGURES)
    medians = {name: median(each.get(name) for each in rounds) for name in figures}
    return {"shape": shape, "system": system, **medians, "rounds": list(rounds)}


def median(values: Iterable[float | None]) -> float | None:
    """Over the rounds that have the figure; None if none has."""
    found = [value for value in values if value is not None]
    return statistics.median(found) if found else None
