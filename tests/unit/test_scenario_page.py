"""docs/scenarios.md: every row of the scenarios has a proof, and every proof that is named is there."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from examples.stories import STORIES
from support.repository import ROOT

PAGE = (ROOT / "docs" / "scenarios.md").read_text()
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| (?!-|capability|error)", line)
]
_PROOF = re.compile(r"`((?:tests|examples)/[\w/]+\.py)::(\w+)`")
PROOFS = sorted(set(_PROOF.findall(PAGE)))
#: Rows of the consolidated table of the scenarios, and errors of the guides.
CAPABILITIES, ERRORS = 40, 21


@cache
def functions_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("file", "name"), PROOFS)
def test_every_proof_that_is_named_is_there(file: str, name: str) -> None:
    assert name in functions_in(file)


def test_every_mention_of_a_proof_is_understood() -> None:
    assert PAGE.count(".py::") == len(_PROOF.findall(PAGE))


def test_no_row_is_left_out() -> None:
    assert len(ROWS) == CAPABILITIES + ERRORS
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_every_row_has_a_proof(row: list[str]) -> None:
    _, guides, proof = row

    assert re.fullmatch(r"D[0-4]( D[0-4])*", guides)
    assert _PROOF.search(proof) or proof == "the table below"


def test_every_story_proves_a_row() -> None:
    named = {file.split("/")[1] for file, _ in PROOFS if file.startswith("examples/")}

    assert named == {story.name for story in STORIES}
