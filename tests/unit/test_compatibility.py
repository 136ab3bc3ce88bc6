"""COMPATIBILITY.md promises nothing that the option table or the tests do not hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from heliograph.config.options import SECTIONS, Support

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "COMPATIBILITY.md").read_text()
#: The test classes of connect/mirror and connect/mirror-client, and their cases.
UPSTREAM = (Path(__file__).parent / "kafka_4_4_tests.txt").read_text().splitlines()

STATES = {
    Support.ACTED: {"yes", "differs"},
    Support.LATER: {"no effect"},
    Support.REFUSED: {"refused"},
}


def rows(heading: str) -> list[list[str]]:
    """The cells of all rows between a heading and the next one."""
    below = PAGE.partition(f"\n{heading}\n")[2]
    lines = re.split(r"^#", below, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in found if set(row[0]) - set("-")]


def named_tests() -> Iterator[tuple[str, str]]:
    file = ""
    for path, name in re.findall(r"`((?:unit|real)/[\w/]+\.py)?::(test_\w+)`", PAGE):
        file = path or file
        yield file, name


@cache
def functions_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("file", "name"), sorted(set(named_tests())))
def test_every_test_that_is_named_is_there(file: str, name: str) -> None:
    assert (TESTS / file).is_file()
    assert name in functions_in(file)


def test_every_mention_of_a_test_is_understood() -> None:
    assert len(re.findall(r"::test_", PAGE)) == len(list(named_tests()))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_option_has_the_state_that_the_table_gives_it(section: str) -> None:
    stated = set()
    for names, state, _ in rows(f"### {section}")[1:]:
        for pattern in re.findall(r"`([^`]+)`", names):
            meant = [o for o in SECTIONS[section] if fnmatchcase(o.name, pattern)]
            assert meant, f"{pattern}: no such option in this section"
            assert all(state in STATES[option.support] for option in meant), pattern
            stated |= {option.name for option in meant}

    assert [option.name for option in SECTIONS[section] if option.name not in stated] == []


def test_what_has_no_effect_or_is_refused_has_a_reason() -> None:
    for section in SECTIONS:
        for names, state, why in rows(f"### {section}")[1:]:
            assert why or state == "yes", names


@pytest.mark.parametrize("case", [*(f"I{n}" for n in range(1, 17)), "D1", "D2", "D3"])
def test_every_integration_case_has_a_test_or_says_why_not(case: str) -> None:
    (row,) = (row for row in rows("### Integration tests") if row[0] == case)
    _, _, state, why = row

    assert state in {"yes", "differs", "no"}
    assert ("::test_" in why) == (state != "no")


@pytest.mark.parametrize("line", UPSTREAM, ids=lambda line: line.partition(":")[0])
def test_every_case_of_kafkas_own_tests_is_mentioned(line: str) -> None:
    upstream_class, _, cases = line.partition(":")

    assert [name for name in (upstream_class, *cases.split()) if not _mentioned(name)] == []


def _mentioned(name: str) -> bool:
    return re.search(rf"\b{name}\b", PAGE) is not None


def test_whatever_is_there_has_a_test() -> None:
    for row in rows("### Unit tests")[1:]:
        case, state, why = row
        assert state in {"yes", "differs", "no"}, case
        assert ("::test_" in why) == (state != "no") or "as above" in why, case
