"""Patterns of users: compiled or refused, and matched, in bounded time whatever they look like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import ConfigError, HeliographError, InvalidPattern
from heliograph.policy.java_regex import JavaPattern
from heliograph.policy.rename_rule import RenameRule
from support.fuzz.laws import survives

PIECES = [
    *"abc.|()[]{}*+?^$\\-&:!=<>#, \n\x00éß\ud800𝒳",
    *(
        "(?:",
        "(?i)",
        "(?<n>",
        "(?=",
        "(?<!",
        "(?>",
        "(?i-x:",
        "[^",
        "&&",
        "[[",
        "]]",
        "{2}",
        "{1,3}",
    ),
    *(
        "{0,99999}",
        "{99999999999}",
        ".*",
        ".+?",
        "*+",
        r"\d",
        r"\w",
        r"\Q",
        r"\E",
        r"\p{L}",
        r"\p{Alpha}",
    ),
    *(
        r"\P{Is",
        r"\x{10FFFF}",
        r"\x{FFFFFF}",
        r"\u00e9",
        r"\0",
        r"\k<n>",
        r"\1",
        r"\9",
        r"\R",
        r"\X",
    ),
    *(r"\b", r"\Z", r"\h", "${x}", "orders"),
]
patterns = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=30)
topics = st.sampled_from(["", "orders", "a" * 249, "ab" * 100, "a.b-c_d", "é", "(a+)+"])


@given(patterns, topics)
def test_a_pattern_is_refused_or_answers(pattern: str, topic: str) -> None:
    compiled = survives(lambda: JavaPattern(pattern), len(pattern), anyway=32 << 20)

    if isinstance(compiled, HeliographError):
        assert isinstance(compiled, InvalidPattern)
        assert 0 <= compiled.position <= len(pattern)
        return
    matched = survives(lambda: compiled.matches(topic), len(topic), anyway=32 << 20)
    assert isinstance(matched, bool | ConfigError)
    caught = survives(lambda: compiled.groups(topic), len(topic), anyway=32 << 20)
    if not isinstance(caught, HeliographError) and not isinstance(matched, HeliographError):
        assert (caught is not None) is matched


@given(
    patterns, st.lists(st.sampled_from([*"ab.-_$ 19", "$1", "$2"]), max_size=6).map("".join), topics
)
def test_a_rename_rule_is_refused_or_applied_and_reversed(
    pattern: str, replacement: str, topic: str
) -> None:
    rule = survives(lambda: RenameRule.of(pattern, replacement), len(pattern), anyway=32 << 20)

    if isinstance(rule, HeliographError):
        assert isinstance(rule, ConfigError)
        return
    renamed = survives(lambda: rule.apply(topic), len(topic), anyway=32 << 20)
    if isinstance(renamed, str):
        assert rule.reverse(renamed) is not None
