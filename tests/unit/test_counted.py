from __future__ import annotations

import re

import pytest

from heliograph.counted import counted
from support.repository import ROOT

#: A number in a sentence, and a noun that is plural whatever the number is.
_ALWAYS_PLURAL = re.compile(
    r"(?:\{(?:len\()[\w.()\[\] -]+(?::,)?\}|\{[\w.]+:,\}|%d) (?:internal |group |more |task |Spark )?"
    r"(?:topics|partitions|groups|records|tasks|connectors|clients|nodes|brokers|flows|ACLs|offsets|restarts|slots)\b"
)


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 topics"), (1, "1 topic"), (2, "2 topics"), (2_000, "2,000 topics")]
)
def test_a_number_has_its_noun(number: int, words: str) -> None:
    assert counted(number, "topic") == words


def test_a_noun_may_have_another_plural() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(3, "entry", "entries") == "3 entries"


def test_no_sentence_says_1_topics() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for match in _ALWAYS_PLURAL.finditer(path.read_text())
    }

    assert found - _ALLOWED == set()
    assert _ALLOWED - found == set()


#: More than one for certain.
_ALLOWED = {"src/heliograph/web/ui/views/overview.py: {len(labels):,} flows"}
