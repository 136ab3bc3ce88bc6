"""Collects the rows of the results file, and checks them against the bars."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaos.faults import FAULTS
from chaos.session import Outcome
from chaos.subjects import System
from harness.results import commit, machine, write_json

Row = dict[str, Any]
_FAULTS = [fault.name for fault in FAULTS]
_ZERO = ("lost", "doubled", "disordered", "altered", "foreign", "unreported")


def row(outcome: Outcome) -> Row:
    difference = asdict(outcome.difference)
    return {
        "fault": outcome.fault,
        "system": outcome.system.value,
        "mode": outcome.mode.value,
        "strikes": outcome.strikes,
        "records": outcome.records,
        **difference,
        "reports": outcome.reports,
        "longest_pause_s": round(outcome.longest_pause, 1),
        "exits": outcome.exits,
        "caught_up": outcome.caught_up,
    }


def misses(row: Row) -> list[str]:
    """The bars that a row misses. MM2's rows are for comparison and have no bars."""
    if row["system"] != System.HELIOGRAPH:
        return []
    found = [
        f"{row[name]} {name}"
        for name in _ZERO
        if row.get(name)  # rows of an older series lack some
    ]
    if row["exits"]:
        found.append(f"the service exited {row['exits']} times")
    if not row["caught_up"]:
        found.append("did not catch up")
    return found


class Results:
    """Grows session by session; `write` replaces the file in one step."""

    def __init__(self, file: Path, *, merge: bool, seed: int) -> None:
        self._file = file
        self._seed = seed
        self._rows: dict[tuple[str, str, str], Row] = {}
        if merge and file.is_file():
            self._rows = {_key(each): each for each in json.loads(file.read_text())["rows"]}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Each row has its commit and seed: a series may extend over several days and commits."""
        tested = commit()
        for outcome in outcomes:
            found = row(outcome) | {"commit": tested, "seed": self._seed}
            self._rows[_key(found)] = found

    def rows(self) -> list[Row]:
        return sorted(self._rows.values(), key=_place)

    def write(self) -> None:
        write_json(self._file, {"machine": machine(), "rows": self.rows()})


def _key(row: Row) -> tuple[str, str, str]:
    return row["fault"], row["mode"], row["system"]


def _place(row: Row) -> tuple[int, str, str]:
    fault = row["fault"]
    place = _FAULTS.index(fault) if fault in _FAULTS else len(_FAULTS)
    return place, row["mode"], row["system"]
