"""A changed object is the same text however the places of its members are found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heliograph.transforms.failures import RecordFailed
from heliograph.transforms.json_document import Document


class Members(list[tuple[str, Any]]):
    """Of an object; a name may be there twice."""


NAMES = st.sampled_from(["a", "b", "a/b", "", "é", 'say "a', "a\\", "\n"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=3).map(Members)
    ),
    max_leaves=12,
)
BLANKS = st.sampled_from(["", "", " ", "\t\r\n "])


@st.composite
def texts(draw: st.DrawFn, value: Any = None) -> str:
    """JSON, with blanks anywhere, and characters escaped or not."""

    def blank() -> str:
        return draw(BLANKS)

    def string(text: str) -> str:
        if draw(st.booleans()):
            return json.dumps(text, ensure_ascii=draw(st.booleans()))
        return '"' + "".join(f"\\u{ord(c):04x}" for c in text if ord(c) < 0xD800) + '"'

    def written(value: Any) -> str:
        if isinstance(value, Members):
            inner = [
                f"{blank()}{string(name)}{blank()}:{blank()}{written(each)}{blank()}"
                for name, each in value
            ]
            return f"{{{','.join(inner) or blank()}}}"
        if isinstance(value, list):
            return f"[{','.join(blank() + written(each) + blank() for each in value)}]"
        return string(value) if isinstance(value, str) else json.dumps(value)

    members = draw(st.lists(st.tuples(NAMES, VALUES), max_size=5).map(Members))
    return blank() + written(members) + draw(st.sampled_from(["", " ", " {"]))


def changed(text: str, names: list[str], *, placed: bool) -> bytes | None:
    document = Document.read(text.encode(), exact=False, whole=not placed)
    document.copied()
    for name in names:
        if document.get(name) is not None:
            document.put(name, "***")
    return document.write()


@given(texts(), st.lists(NAMES, max_size=3))
@example('{"b": {"a": 1}, "\\u0061": 2}', ["a"])
@example('{"say \\"a": 1, "b": "x\\\\", "a" : "\\\\"}', ["a"])
@example('{"b": "a", "a": [1, {"c": "]}"}] }', ["a"])
@example('{"x": 1, "a":-1.5e3\n}', ["a"])
def test_searching_for_a_place_gives_what_finding_all_gives(text: str, names: list[str]) -> None:
    fast, slow = changed(text, names, placed=False), changed(text, names, placed=True)

    if _has_duplicates(text):  # of the others, the copies that do not count may stay
        assert _first(fast) == _first(slow)
    else:
        assert fast == slow


def _has_duplicates(text: str) -> bool:
    pairs = json.JSONDecoder(object_pairs_hook=list).raw_decode(text.strip())[0]
    return len({name for name, _ in pairs}) < len(pairs)


def _first(data: bytes | None) -> object:
    assert data is not None
    return json.JSONDecoder().raw_decode(data.decode())[0]


def test_of_a_masked_name_that_is_there_twice_no_copy_keeps_its_value() -> None:
    written = changed('{"a": "secret", "b": 1, "a": "secret, too"}', ["a"], placed=False)

    assert written == b'{ "a": "***","b": 1}' or b"secret" not in (written or b"")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1,}', "not JSON: expected a name in quotes at character 8"),
        ('{"a": 1 "b": 2}', "not JSON: expected , or } at character 7"),
        ('{"a": NaN}', "not JSON: NaN is not JSON"),
        ('{"a": [1, }', "not JSON: expected a value at character 10"),
    ],
)
def test_what_is_no_json_is_said_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(RecordFailed) as caught:
        Document.read(text.encode(), exact=False)
    assert str(caught.value) == sentence
