r"""A JSON value, read as Connect's JsonConverter reads it with `schemas.enable=false`.

The members of an object are found with their places in the text, so that those that no transformation touches
stay as they are, byte for byte:

    {"id": 7,  "name": "x" , "tags": [1, 2]}
    ↑member ↑ ↑member     ↑ ↑member         ↑         separated by commas; each keeps its blanks

For transformations that look at a few members and add none (`whole`), finding all places would be the most
expensive part: the text is read as a whole by the decoder, what is inside members is forgotten again, and a
place is searched for when its member changes (`_spliced`). Where that does not do, all places are found after
all.

Java's maps have another order and Java's converter drops blanks. Records do not depend on that, but keys do:
a key decides the partition, and which records compaction keeps. So a changed key (`exact`) is written as Java
writes it, byte for byte: without blanks, its numbers as long and double, members in the order of a
`java.util.HashMap`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from heliograph.mm2.connect.jackson import hash_map_order, string
from heliograph.transforms.failures import RecordFailed
from heliograph.transforms.java_numbers import Float32, number_text, wrapped

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
#: Where a member starts, its value starts and ends, the member ends; its value. -1: it is new.
_Member = tuple[int, int, int, int, Json]

_BLANKS = " \t\n\r"
_NAME = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_ANY_NAME = re.compile(r'[ \t\n\r]*"')
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
#: What is left of a value, at most a number or word, up to the comma or brace after it.
_REST = re.compile(r"[^,}\]\[{\" \t\n\r]*[ \t\n\r]*[,}]")
_NEXT = re.compile(r"[ \t\n\r]*([,}])")
_EMPTY = re.compile(r"[ \t\n\r]*}")
#: Strings as they are, zeros before a number without.
_LEADING_ZEROS = re.compile(r'("(?:[^"\\]|\\.)*")|(?<![\d.eE+-])(-?)0+(?=\d)')


def _not_a_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_not_a_number)
_scan = _decoder.scan_once  # type: ignore[attr-defined]
_scan_string = json.decoder.scanstring  # type: ignore[attr-defined]


class _Inner(Enum):
    """In place of an object or array inside an object, until something asks for it."""

    FORGOTTEN = auto()


class Document:
    """The value of one key or record. `fields` is None unless it is an object."""

    __slots__ = ("_buckets", "_edited", "_fields", "_text", "_values", "changed", "exact", "value")

    def __init__(self, *, value: Json = None, exact: bool = False, changed: bool = True) -> None:
        self._fields: dict[str, _Member] | None = None
        #: The members of an object of which no place was needed yet, with their present values; `_edited` are
        #: those that have another one than in the text.
        self._values: dict[str, Json | _Inner] | None = None
        self._edited: list[str] = []
        self.value = value
        self.exact = exact
        self.changed = changed
        self._text = ""
        self._buckets: int | None = None  # of Java's map, None: one made with its default

    @classmethod
    def read(cls, data: bytes, *, exact: bool, whole: bool = False) -> Document:
        """Raises RecordFailed."""
        text = _decoded(data)
        try:
            return cls._parsed(text, exact, whole)
        except (ValueError, StopIteration, RecursionError) as problem:
            without = _LEADING_ZEROS.sub(r"\1\2", text)  # which JsonDeserializer allows
            if without != text:
                return cls.read(without.encode(), exact=exact, whole=whole)
            raise _not_json(problem) from None

    @classmethod
    def _parsed(cls, text: str, exact: bool, whole: bool) -> Document:
        document = cls(exact=exact, changed=False)
        at = len(text) - len(text.lstrip(_BLANKS))
        if at == len(text):
            return document
        if text[at] == "{":
            if whole and not exact and document._read_whole(text, at):
                return document
            document._text = text
            document.fields = _members(text, at + 1)
            return document
        document.value, end = _scan(text, at)
        document._text = text[at:end]
        if text[at] not in '"[' and text[end : end + 1].strip(_BLANKS):
            raise ValueError("characters after the value")
        return document

    def _read_whole(self, text: str, at: int) -> bool:
        """False: it is not JSON, or nested too deeply; `_members` says what is wrong."""
        try:
            values, end = _scan(text, at)
        except (ValueError, StopIteration, RecursionError):
            return False
        for name, value in values.items():
            if type(value) is dict or type(value) is list:
                values[name] = _Inner.FORGOTTEN  # its memory is used again for the next record
        self._values = values
        self._text = text if not at and end == len(text) else text[at:end]
        return True

    @property
    def is_object(self) -> bool:
        return self._values is not None or self._fields is not None

    @property
    def fields(self) -> dict[str, _Member] | None:
        if self._values is not None:
            values, self._values = self._values, None
            self._fields = _members(self._text, 1)
            for name in self._edited:
                self.put(name, _known(values[name]))
        return self._fields

    @fields.setter
    def fields(self, fields: dict[str, _Member] | None) -> None:
        self._fields, self._values = fields, None

    @classmethod
    def of(cls, members: Iterable[tuple[str, Json]], *, exact: bool, buckets: int = 16) -> Document:
        """A new object; `buckets` of the map that Java would make for it."""
        document = cls(exact=exact)
        document.fields = {}
        document._buckets = buckets
        for name, value in members:
            document.put(name, value)
        return document

    @property
    def is_null(self) -> bool:
        return self.value is None and not self.is_object

    def get(self, name: str) -> Json:
        if self._values is not None and not isinstance(value := self._values.get(name), _Inner):
            return value
        assert self.fields is not None
        member = self.fields.get(name)
        return None if member is None else member[4]

    def content(self) -> Json:
        """The whole value."""
        if self.fields is None:
            return self.value
        return {name: member[4] for name, member in self.fields.items()}

    def names(self) -> list[str]:
        """In the order in which Java's map has them."""
        assert self.fields is not None
        return java_order(list(self.fields), self._buckets)

    # ── changes ──────────────────────────────────────────────────────────────────────────────

    def copied(self) -> None:
        """As `new HashMap<>(map)`: what a transformation does before it changes a map."""
        assert self.is_object
        self.changed = True
        if self.exact:
            assert self.fields is not None
            self.fields = {name: self.fields[name] for name in self.names()}
            self._buckets = _buckets_for(int(len(self.fields) / 0.75 + 1.0)) if self.fields else 16

    def put(self, name: str, value: Json) -> None:
        if self._values is not None and name in self._values:
            self._values[name] = value
            self._edited.append(name)
            return
        assert self.fields is not None
        old = self.fields.get(name)
        if old is None or old[0] < 0:
            self.fields[name] = (-1, -1, -1, -1, value)
        else:
            # Its name and the blanks round it stay.
            self.fields[name] = (old[0], old[1], -1, old[3], value)
        self._grow()

    def remove(self, name: str) -> None:
        assert self.fields is not None
        self.fields.pop(name, None)

    def rebuild(self, members: Sequence[tuple[str, str]], *, buckets: int | None) -> None:
        """Only these members remain, as (new name, name); a name given twice keeps its first place."""
        assert self.fields is not None
        old, self.fields = self.fields, {}
        self.changed = True
        self._buckets = buckets
        for new, name in members:
            member = old[name]
            self.fields[new] = member if new == name else (-1, member[1], member[2], -1, member[4])
        self._grow()

    def replace(self, value: Json) -> None:
        """Another value as a whole."""
        self.fields, self.value, self.changed = None, value, True
        self._text = ""
        if isinstance(value, dict):
            self.fields = {name: (-1, -1, -1, -1, each) for name, each in value.items()}
            self._buckets = None

    def keep_only(self, name: str) -> None:
        """The value of one member becomes the whole."""
        assert self.fields is not None
        member = self.fields.get(name)
        text = "" if member is None or member[2] < 0 else self._text[member[1] : member[2]]
        self.replace(None if member is None else member[4])
        if text and self.fields is None:
            self._text = text  # as it stood
        elif text:
            self.fields = _members(text, 1)
            self._text = text

    def wrap(self, name: str) -> None:
        """The whole becomes the only member of an object."""
        text = self._written() if not self.is_null else "null"
        value = self.content()
        head = f"{{{string(name)}:"
        self._text = f"{head}{text}}}"
        self.fields = {name: (1, len(head), len(head) + len(text), len(head) + len(text), value)}
        self.value, self.changed, self._buckets = None, True, 16

    def in_order(self) -> None:
        """From now on as Java's LinkedHashMap: in the order of insertion."""
        self._buckets = 0

    def _grow(self) -> None:
        if self._buckets and self.fields is not None:
            while len(self.fields) > self._buckets * 3 // 4:
                self._buckets *= 2

    # ── writing ──────────────────────────────────────────────────────────────────────────────

    def write(self) -> bytes | None:
        """None: null, which JsonConverter writes as no value at all."""
        if self.is_null:
            return None
        if not self.exact:
            return self._written().encode()
        return java_json(self.content(), self if self.fields is not None else None).encode()

    def _spliced(self, values: Mapping[str, Json | _Inner]) -> str | None:
        """The text with other values in the places of the edited ones; None: their places are not plain."""
        text = self._text if values else "{}"
        places = []
        for name in dict.fromkeys(self._edited):
            place = _place(text, name)
            if place is None:
                return None
            places.append((place, name))
        if len(places) > 1:
            places.sort()
        at, parts = 0, list[str]()
        for (start, end), name in places:
            parts += (text[at:start], json_text(_known(values[name])))
            at = end
        parts.append(text[at:])
        return "".join(parts)

    def _written(self) -> str:
        if self._values is not None and (text := self._spliced(self._values)) is not None:
            return text
        if self.fields is None:
            return self._text or json_text(self.value)
        text = self._text
        parts = []
        for name, (low, start, end, high, value) in self.fields.items():
            if low < 0:
                parts.append(f"{string(name)}:{text[start:end] if end >= 0 else json_text(value)}")
            elif end < 0:
                parts.append(text[low:start] + json_text(value))
            else:
                parts.append(text[low:high])
        return f"{{{','.join(parts)}}}"


def _known(value: Json | _Inner) -> Json:
    assert not isinstance(value, _Inner)
    return value


def _place(text: str, name: str) -> tuple[int, int] | None:
    """Where the value of this member begins, and the comma or brace after it. None: all members have to be
    looked at, since the name is there more than once, perhaps in an inner object, or may be escaped."""
    escapes = "\\" in text
    if escapes and ("\\u" in text or "/" in name):
        return None
    quoted = f'"{name}"'
    at = text.find(quoted)
    if at < 0 or text.find(quoted, at + 1) >= 0 or text[at - 1] == "\\":
        return None
    colon = _COLON.match(text, at + len(quoted))
    if colon is None:
        return None
    start = end = colon.end()
    first = text[start]
    if first == '"':
        end = _scan_string(text, start + 1, True)[1] if escapes else text.index('"', start + 1) + 1
    elif first in "{[":
        end = _scan(text, start)[1]
    following = _REST.match(text, end)
    return None if following is None else (start, following.end() - 1)


def _members(text: str, at: int) -> dict[str, _Member]:
    """The members of the object whose brace is before `at`. Of a name given twice the last one counts."""
    members: dict[str, _Member] = {}
    if _EMPTY.match(text, at):
        return members
    match_name, match_next = _NAME.match, _NEXT.match
    while True:
        low = at
        found = match_name(text, at)
        if found is not None:
            name, at = found[1], found.end()
        else:
            name, at = _escaped_name(text, at)
        start = at
        value, end = _scan(text, at)
        following = match_next(text, end)
        if following is None:
            raise ValueError(f"expected , or }} at character {end}")
        at = following.end()
        members[name] = (low, start, end, at - 1, value)
        if text[at - 1] == "}":
            return members


def _escaped_name(text: str, at: int) -> tuple[str, int]:
    quote = _ANY_NAME.match(text, at)
    if quote is None:
        raise ValueError(f"expected a name in quotes at character {at}")
    name, end = _scan_string(text, quote.end(), True)
    colon = _COLON.match(text, end)
    if colon is None:
        raise ValueError(f"expected : at character {end}")
    return name, colon.end()


def _decoded(data: bytes) -> str:
    try:
        # Jackson looks for other encodings than UTF-8 from four bytes on.
        if len(data) < 4 or (data[:1] < b"\xef" and 0 not in data[:4]):
            return data.decode()
        return data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as problem:
        raise RecordFailed(
            f"not JSON: invalid {problem.encoding} at byte {problem.start}"
        ) from None


def _not_json(problem: Exception) -> RecordFailed:
    if isinstance(problem, json.JSONDecodeError):
        return RecordFailed(f"not JSON: {problem.msg} at character {problem.pos}")
    if isinstance(problem, StopIteration):
        return RecordFailed(f"not JSON: expected a value at character {problem.value}")
    if isinstance(problem, RecursionError):
        return RecordFailed("not JSON: nested too deeply")
    return RecordFailed(f"not JSON: {problem}")


def json_text(value: Json) -> str:
    """JSON as Jackson writes it, members in the order they have."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return string(value)
        case int():
            return int.__repr__(value)
        case float():
            text = number_text(value)
            return f'"{text}"' if text[-1] in "Ny" else text
        case list():
            return f"[{','.join(map(json_text, value))}]"
        case _:
            members = (f"{string(name)}:{json_text(each)}" for name, each in value.items())
            return f"{{{','.join(members)}}}"


def java_json(value: Json, document: Document | None = None) -> str:
    """As Jackson writes what JsonConverter made of it; `document` has the order of the outermost members."""
    if isinstance(value, dict):
        names = java_order(list(value)) if document is None else document.names()
        members = (f"{string(name)}:{java_json(value[name])}" for name in names)
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(java_json, value))}]"
    return json_text(connect(value))


def connect(value: Json) -> Json:
    """A number as JsonConverter reads it: the lowest 64 bits of an integer, no negative zero."""
    if type(value) is int:
        return wrapped(value)
    if isinstance(value, float) and not isinstance(value, Float32):
        return value + 0.0
    return value


def java_order(names: list[str], buckets: int | None = None) -> list[str]:
    """Names in the order of a HashMap; 0: of a LinkedHashMap."""
    if buckets == 0:
        return names
    return hash_map_order(names, buckets=buckets)


def _buckets_for(capacity: int) -> int:
    return 1 << max(capacity - 1, 0).bit_length()
