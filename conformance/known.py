"""Reads the intended differences (`known_differences.json`), each with its reason.

An entry covers a difference if its patterns (shell style, `*` for anything) match step and path and its
statuses, if it has any, are those of the answers. COMPATIBILITY.md repeats title and reason of every entry;
`tests/unit/conformance` checks that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.answer import Answer
from conformance.compare import NOTHING, Difference

KNOWN = Path(__file__).with_name("known_differences.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """`java`: its status; `ours`: statuses, empty for any; `only`: the side that has what the other lacks."""

    title: str
    reason: str
    steps: tuple[str, ...]
    paths: tuple[str, ...]
    java: int | None
    ours: tuple[int, ...]
    only: str | None

    def covers(self, difference: Difference, java: Answer, ours: Answer) -> bool:
        return (
            self.java in (None, java.status)
            and (not self.ours or ours.status in self.ours)
            and self.only in (None, _only_in(difference))
            and any(_matches(difference.step, pattern) for pattern in self.steps)
            and any(_matches(difference.path, pattern) for pattern in self.paths)
        )


def _only_in(difference: Difference) -> str | None:
    if difference.java is NOTHING:
        return "ours"
    return "java" if difference.ours is NOTHING else None


def _matches(text: str, pattern: str) -> bool:
    # Brackets are part of a path here, not a set of characters.
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def read_known(path: Path = KNOWN) -> list[Known]:
    return [_known(entry) for entry in json.loads(path.read_text())]


def _known(entry: dict[str, Any]) -> Known:
    return Known(
        title=entry["title"],
        reason=entry["reason"],
        steps=tuple(entry.get("steps", ["*"])),
        paths=tuple(entry.get("paths", ["*"])),
        java=entry.get("java"),
        ours=tuple(entry.get("ours", ())),
        only=entry.get("only"),
    )


def covering(
    known: Sequence[Known], difference: Difference, java: Answer, ours: Answer
) -> Known | None:
    return next((each for each in known if each.covers(difference, java, ours)), None)
