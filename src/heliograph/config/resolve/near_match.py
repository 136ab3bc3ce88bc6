"""Suggests the known name that a misspelt one resembles: "did you mean …?"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` resembles most; None: it resembles none."""
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], prefix: str = "") -> str:
    found = near(word, known)
    return f"; did you mean {prefix}{found}?" if found else ""
