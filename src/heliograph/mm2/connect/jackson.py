r"""Writes JSON byte for byte as Jackson does for Kafka Connect.

No blanks, raw UTF-8; control characters and surrogates (of characters beyond the BMP) become \uXXXX in upper
case. Connect looks some records up by the exact bytes of such a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_SHORT_ESCAPES = {
    '"': r"\"",
    "\\": r"\\",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\f": r"\f",
    "\r": r"\r",
}
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')


def string(text: str) -> str:
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def dump(document: object) -> str:
    """Keeps the order of a mapping's members."""
    match document:
        case str():
            return string(document)
        case Mapping():
            members = (f"{string(str(key))}:{dump(value)}" for key, value in document.items())
            return f"{{{','.join(members)}}}"
        case Sequence():
            return f"[{','.join(map(dump, document))}]"
        case _:
            return json.dumps(document)


def load(what: str, data: bytes) -> object:
    """Raises ValueError."""
    try:
        document: object = json.loads(data.decode())
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{what}: not JSON in UTF-8: {problem}") from None
    return document


def hash_map_order(
    keys: Sequence[str], *, copied: bool = False, buckets: int | None = None
) -> list[str]:
    """The order in which a `java.util.HashMap` iterates over string keys that were inserted in this order.

    A map created as a copy of another starts with as many buckets as it needs, instead of 16. `buckets`, if
    known, are those that the map has.
    """
    size = buckets or (1 if copied else 16)
    while buckets is None and (
        size < int(len(keys) / 0.75 + 1.0) if copied else len(keys) > size * 3 // 4
    ):
        size *= 2
    return sorted(keys, key=lambda key: _known_spread(key) & (size - 1))


def _known_spread(text: str) -> int:
    """Names of fields come again with each record; long ones are not kept in memory."""
    return _kept_spread(text) if len(text) <= _KEPT_CHARACTERS else _spread(text)


def _spread(text: str) -> int:
    """`HashMap.hash` of `String.hashCode`, which counts UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    digest = 0
    for at in range(0, len(units), 2):
        digest = (31 * digest + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return digest ^ (digest >> 16)


_KEPT_CHARACTERS = 64
_kept_spread = lru_cache(maxsize=4096)(_spread)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if short := _SHORT_ESCAPES.get(character):
        return short
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex().upper()}" for i in range(0, len(units), 2))
