"""Compares two answers to one request: each difference has a path into the answer, Java's value and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.answer import Answer

#: Lists in the order of a Java hash map, which is arbitrary.
_UNORDERED = {"offsets", "tasks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    step: str
    path: str
    java: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.step}: {self.path}\n    java: {_short(self.java)}\n    ours: {_short(self.ours)}"


class _Nothing:
    def __repr__(self) -> str:
        return "(nothing)"


NOTHING = _Nothing()


def differences(step: str, java: Answer, ours: Answer) -> list[Difference]:
    found = [
        *_values("status", java.status, ours.status),
        *_values("headers", java.headers, ours.headers),
        *_values("body", java.body, ours.body),
    ]
    return [Difference(step=step, path=path, java=a, ours=b) for path, a, b in found]


def _values(path: str, java: Any, ours: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(java, Mapping) and isinstance(ours, Mapping):
        yield from _objects(path, java, ours)
    elif isinstance(java, list) and isinstance(ours, list):
        yield from _lists(path, java, ours)
    elif java != ours or type(java) is not type(ours):
        yield path, java, ours


def _objects(
    path: str, java: Mapping[str, Any], ours: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for key in [*java, *(key for key in ours if key not in java)]:
        yield from _values(f"{path}.{key}", java.get(key, NOTHING), ours.get(key, NOTHING))
    yield from _order(
        path, [key for key in java if key in ours], [key for key in ours if key in java]
    )


def _lists(path: str, java: Sequence[Any], ours: Sequence[Any]) -> Iterator[tuple[str, Any, Any]]:
    names, other_names = [_name(each) for each in java], [_name(each) for each in ours]
    if None in names or None in other_names:
        if java != ours:
            yield path, java, ours
        return
    keyed, other = dict(zip(names, java, strict=True)), dict(zip(other_names, ours, strict=True))
    for name in [*keyed, *(name for name in other if name not in keyed)]:
        yield from _values(f"{path}[{name}]", keyed.get(name, NOTHING), other.get(name, NOTHING))
    if path.rpartition(".")[2] not in _UNORDERED:
        yield from _order(path, [n for n in keyed if n in other], [n for n in other if n in keyed])


def _order(path: str, java: Sequence[Any], ours: Sequence[Any]) -> Iterator[tuple[str, Any, Any]]:
    """The order of what both have; what only one has is a difference of its own."""
    if list(java) != list(ours):
        yield f"{path} (order)", list(java), list(ours)


def _name(entry: Any) -> str | None:
    """The name that identifies an entry of a list."""
    match entry:
        case str():
            return entry
        case {"definition": _, "value": {"name": str(name)}} | {"name": str(name)}:
            return name
        case {"class": str(name), "type": str(kind)}:
            return f"{name}:{kind}"
        case {"id": {"connector": connector, "task": task}}:
            return f"{connector}-{task}"
        case {"id": int(number)}:
            return str(number)
        case {"connector": str(connector), "task": int(task)}:
            return f"{connector}-{task}"
        case {"partition": dict(partition), "offset": _}:
            return str(sorted(partition.items()))
        case _:
            return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:397]}…"
