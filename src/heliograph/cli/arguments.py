"""Lists on the command line: `a b`, `a,b`, or the option again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

#: Options whose values may follow each other, as those of connect-mirror-maker.sh's --clusters do.
_LISTS = frozenset({"--clusters", "--secrets", "--log-level", "--namespaces"})
#: Options without a value, beside which a word is an argument.
_FLAGS = frozenset({"--once", "--all", "-v", "--wide", "--watch", "--partitions", "--write"})
#: The command and its configuration.
_ARGUMENTS = 2


def spread(given: list[str]) -> list[str]:
    """Turns `--clusters B C` into `--clusters B --clusters C`. The last word is the configuration if no other
    word is: `run --clusters B mm2.properties`."""
    spread: list[str] = []
    option, has_value, arguments = "", False, 0
    for number, word in enumerate(given):
        is_last = number == len(given) - 1
        if word.startswith("-"):
            option, has_value = "" if word in _FLAGS or "=" in word else word, False
        elif option in _LISTS and has_value and not (is_last and arguments < _ARGUMENTS):
            spread.append(option)
        elif option and not has_value:
            has_value = True
        else:
            arguments += 1
        spread.append(word)
    return spread


def items(given: Iterable[str] | None) -> tuple[str, ...]:
    """`a,b` are two."""
    return tuple(item.strip() for each in given or () for item in each.split(",") if item.strip())


def paths(given: Iterable[Path] | None) -> tuple[Path, ...]:
    return tuple(map(Path, items(map(str, given or ()))))
