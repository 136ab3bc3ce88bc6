"""Reads and writes `golden.json`: the recorded answers of a Java worker.

Every answer of config/validate repeats the definitions of settings. A value that occurs more than once is
stored in `shared` and replaced by `{"$": n}`; nothing else is shortened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.answer import Answer, answer_from

GOLDEN = Path(__file__).with_name("golden.json")
_SHORTEST = 60


def read_golden(path: Path = GOLDEN) -> dict[str, Answer]:
    recorded = json.loads(path.read_text())
    shared: list[Any] = []
    for each in recorded["shared"]:
        shared.append(_expanded(each, shared))
    return {
        name: answer_from(_expanded(answer, shared)) for name, answer in recorded["answers"].items()
    }


def write_golden(path: Path, version: str, answers: Mapping[str, Answer]) -> None:
    seen: Counter[str] = Counter()
    for answer in answers.values():
        _count(answer.body, seen)
    sharing = _Sharing({text for text, times in seen.items() if times > 1})
    recorded = {
        name: {**answer.as_json(), "body": sharing.shortened(answer.body)}
        for name, answer in answers.items()
    }
    shared = ",\n".join(f"  {json.dumps(each)}" for each in sharing.shared)
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(answer)}" for name, answer in recorded.items()
    )
    path.write_text(
        f'{{"kafka": "{version}",\n"shared": [\n{shared}\n],\n"answers": {{\n{lines}\n}}}}\n'
    )


def _count(value: Any, seen: Counter[str]) -> None:
    if isinstance(value, dict | list):
        seen[json.dumps(value)] += 1
        for each in value.values() if isinstance(value, dict) else value:
            _count(each, seen)


class _Sharing:
    def __init__(self, repeated: set[str]) -> None:
        self._repeated = {text for text in repeated if len(text) >= _SHORTEST}
        self._numbers: dict[str, int] = {}
        self.shared: list[Any] = []

    def shortened(self, value: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        text = json.dumps(value)
        if text not in self._repeated:
            return self._inside(value)
        if text not in self._numbers:
            inside = self._inside(value)
            self._numbers[text] = len(self.shared)
            self.shared.append(inside)
        return {"$": self._numbers[text]}

    def _inside(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.shortened(each) for key, each in value.items()}
        return [self.shortened(each) for each in value]


def _expanded(value: Any, shared: list[Any]) -> Any:
    match value:
        case {"$": int(number)}:
            return shared[number]
        case dict():
            return {key: _expanded(each, shared) for key, each in value.items()}
        case list():
            return [_expanded(each, shared) for each in value]
        case _:
            return value
