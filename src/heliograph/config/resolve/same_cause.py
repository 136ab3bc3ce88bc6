"""Tells a problem once that several keys share.

A login is often written four times, for the worker and its clients (`sasl.jaas.config` and the same after
`producer.`, `consumer.`, `admin.`), and Strimzi's operator derives the four from one field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PROBLEM = re.compile(r"(?P<key>[^\s:]+): (?P<sentence>.*) \((?P<where>[^()]+)\)", re.DOTALL)
_CLIENT = re.compile(r"(?:^|(?<=\.))(?:producer|consumer|admin)\.(?:override\.)?")


def told_once(problems: Iterable[str]) -> list[str]:
    """`key: sentence (file:line)`, once for keys that differ in their client only: the first one, with the
    lines of the others."""
    causes: dict[tuple[str, str], list[re.Match[str]]] = {}
    others: dict[tuple[str, str], str] = {}
    order: dict[tuple[str, str], None] = {}
    for problem in problems:
        match = _PROBLEM.fullmatch(problem)
        cause = ("", problem)
        if match is None:
            others[cause] = problem
        else:
            cause = (_CLIENT.sub("", match["key"]), match["sentence"])
            causes.setdefault(cause, []).append(match)
        order[cause] = None
    return [others[cause] if cause in others else _one(causes[cause]) for cause in order]


def _one(alike: list[re.Match[str]]) -> str:
    first = alike[0]
    others = dict.fromkeys(each["where"] for each in alike)
    others.pop(first["where"])
    also = f"; the same in {', '.join(others)}" if others else ""
    return f"{first['key']}: {first['sentence']} ({first['where']}{also})"
