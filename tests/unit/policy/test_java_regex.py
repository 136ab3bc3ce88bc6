"""Expected values are those of `java.util.regex` on JDK 17."""

from __future__ import annotations

import pickle

import pytest

from heliograph.errors import InvalidPattern
from heliograph.policy.java_regex import JavaPattern


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"(mm2.*\.internal|.*\.replica|__.*)", "__consumer_offsets", True),
        (r"a*+b", "aaab", True),
        (r"(?>a|ab)c", "abc", False),
        (r"ab(?i)C", "abc", True),
        (r"(?i:AB)c", "abc", True),
        (r"(?i:AB)c", "abC", False),
        (r"(?<n>a+)\k<n>", "aa", True),
        (r"\p{Alpha}+", "abc", True),
        (r"\p{Alpha}+", "é", False),
        (r"\p{IsLatin}+", "abc", True),
        (r"\p{Punct}", "$", True),
        (r"\P{Punct}", "a", True),
        (r"\pL", "a", True),
        (r"\pL+", "é\u03b1", True),
        (r"\p{L}\w", "éé", False),
        (r"\P{L}", "é", False),
        (r"\p{IsGreek}", "\u03b1", True),
        (r"\p{InGreek}", "\u03b1", True),
        (r"\p{script=Greek}", "a", False),
        (r"[\p{L}\d-]+", "é1-", True),
        (r"[\p{L}\d]", "\u0663", False),
        (r"[^\p{L}]", "é", False),
        (r"[\p{L}&&[^é]]", "é", False),
        (r"[a[\p{Lu}]]+", "aÉ", True),
        (r"(?i)\p{Lu}", "a", True),
        (r"(?i)é", "É", False),
        (r"(?i)[\p{L}&&[é]]", "É", False),
        (r"(?i)[k\p{N}]", "\u212a", False),
        (r"[\w-x]+", "a-x", True),
        (r"[\w-x]", "~", False),
        (r"[\W]", "é", True),
        (r"[\h]", "\u00a0", True),
        (r"a\hb", "a\u3000b", True),
        (r"[a-z&&[^x]]+", "abc", True),
        (r"[a-z&&[^x]]+", "axc", False),
        (r"[a-c[x-z]]+", "ax", True),
        (r"[^a[b]]", "b", False),
        (r"[[:alpha:]]", "z", False),
        (r"[[:alpha:]]", "p", True),
        (r"[a||b]", "|", True),
        (r"[a~~b]", "~", True),
        (r"[]a]", "]", True),
        (r"[^]a]", "b", True),
        (r"[\Qa]\E]", "]", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"\Qa.b", "a.b", True),
        (r"abc\z", "abc", True),
        (r"abc\Z", "abc", True),
        (r"a\hb", "a b", True),
        (r"\H", "a", True),
        (r"\v", "\n", True),
        (r"\V", "a", True),
        (r"a\Rb", "a\r\nb", True),
        (r"\w+", "é", False),
        (r"\d+", "\u0663", False),
        (r"a*(?<=a{1,3})b", "aab", True),
        (r"\x{41}\x41\u0041\0101", "AAAA", True),
        (r"a\_b\-c", "a_b-c", True),
        (r"a}", "a}", True),
        (r"orders", "orders.eu", False),
    ],
)
def test_a_pattern_matches_what_java_matches(pattern: str, text: str, expected: bool) -> None:
    assert JavaPattern(pattern).matches(text) is expected


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("*.foo", 0),
        ("a|*", 2),
        ("a**", 2),
        ("foo(", 4),
        (r"\Qx.y\Efoo(", 11),
        ("x{", 1),
        ("a{e<=1}", 1),
        ("a{,3}", 1),
        ("foo{1|3}", 3),
        ("${file:a:b}", 1),
        (r"x\m", 1),
        (r"a\Ec", 1),
        (r"\p{javaLowerCase}+", 0),
        (r"a\p{Letter}", 1),
        (r"\p{^L}", 0),
        (r"[\p{L}]foo(", 11),
        ("a(?P<n>b)", 1),
        ("a(?#c)", 1),
        ("(?R)", 0),
        ("(?u)a", 0),
        ("[a--b]", 2),
    ],
)
def test_what_java_refuses_is_refused_with_its_position(pattern: str, position: int) -> None:
    with pytest.raises(InvalidPattern) as caught:
        JavaPattern(pattern)

    assert caught.value.pattern == pattern
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(" * 3000 + ")" * 3000, "nested too deeply"),
        ("[" * 3000, "nested too deeply"),
        ("((a{1000}){1000}){1000}", "multiply to too many"),
        (r"(?:x\d[a-z]{200}){300}", "multiply to too many"),
        ("a{99999999999}", "starts a repetition"),
        ("a{\u0663}", "starts a repetition"),
    ],
)
def test_a_pattern_that_would_take_long_to_compile_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidPattern, match=reason):
        JavaPattern(pattern)


def test_repetitions_beside_each_other_do_not_multiply() -> None:
    assert JavaPattern(r"(?:[a-z]{1,63}\.){1,10}" + "-.{1,249}" * 20).matches("a.b." + "-x" * 20)


def test_a_match_that_tries_too_many_ways_is_given_up() -> None:
    with pytest.raises(InvalidPattern, match="more than 1 s to match 'aaa"):
        JavaPattern("(a|aa)+b").matches("a" * 200)


def test_patterns_travel_to_other_processes() -> None:
    pattern = JavaPattern(r"\Qa.b\E.*")

    copy = pickle.loads(pickle.dumps(pattern))

    assert copy == pattern
    assert copy.matches("a.bc")
