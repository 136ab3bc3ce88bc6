"""Parses JSON (RFC 8259) with line numbers.

If a key appears twice, the last value counts, as in Connect's parser, with a warning.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from heliograph.config.formats.text.node import Document, Node
from heliograph.errors import ConfigError

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_DEPTH = 50
_DECODER = JSONDecoder()


def parse_json(text: str, name: str) -> tuple[Document, list[str]]:
    """The document and warnings. Raises ConfigError with the line."""
    parser = _Parser(text.removeprefix("\ufeff"), name)
    return Document(name, parser.document()), parser.warnings


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._at = 0
        self._counted = (0, 1)  # position up to which lines were counted, and their number
        self.warnings: list[str] = []

    def document(self) -> Node:
        self._skip()
        if self._at == len(self._text):
            raise ConfigError(f"{self._name}: empty; expected a JSON document")
        root = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("the end of the document")
        return root

    def _value(self, depth: int) -> Node:
        if depth > _DEPTH:
            raise self._wrong(f"at most {_DEPTH} levels of nesting")
        line, char = self._line(), self._text[self._at : self._at + 1]
        if char == "{":
            return Node(self._object(depth), line)
        if char == "[":
            return Node(self._array(depth), line)
        if char == '"':
            text = self._string()
            return Node(text, line, text)
        if match := _NUMBER.match(self._text, self._at):
            self._at = match.end()
            whole = match["fraction"] is None and match["exponent"] is None
            # Python refuses longer integers; no setting accepts such a number.
            value = int(match[0]) if whole and len(match[0]) < 4000 else float(match[0])
            return Node(value, line, match[0])
        for word, constant in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return Node(constant, line, "" if constant is None else word)
        raise self._wrong("a value")

    def _object(self, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        self._at += 1
        self._skip()
        if self._take("}"):
            return found
        while True:
            line = self._line()
            if not self._text.startswith('"', self._at):
                raise self._wrong("a key in double quotes")
            key = self._string()
            self._expect(":", f"a colon after {key!r}")
            node = self._value(depth + 1)
            if key in found:
                self.warnings.append(
                    f"{key}: set twice, in {self._name}:{found[key].line} and {self._name}:{line}; "
                    f"line {line} counts"
                )
            found[key] = Node(node.value, line, node.text)
            self._skip()
            if self._take("}"):
                return found
            self._expect(",", "a comma or } after a value")

    def _array(self, depth: int) -> list[Node]:
        found: list[Node] = []
        self._at += 1
        self._skip()
        if self._take("]"):
            return found
        while True:
            found.append(self._value(depth + 1))
            self._skip()
            if self._take("]"):
                return found
            self._expect(",", "a comma or ] after a value")

    def _string(self) -> str:
        try:
            text, self._at = _DECODER.raw_decode(self._text, self._at)
        except JSONDecodeError as problem:
            self._at = min(problem.pos, len(self._text))
            raise self._wrong(
                "a closing double quote, and no control characters before it"
            ) from None
        return str(text)

    def _expect(self, sign: str, what: str) -> None:
        self._skip()
        if not self._take(sign):
            raise self._wrong(what)
        self._skip()

    def _take(self, sign: str) -> bool:
        if self._text.startswith(sign, self._at):
            self._at += 1
            return True
        return False

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _line(self) -> int:
        before, lines = self._counted
        lines += self._text.count("\n", before, self._at)
        self._counted = (self._at, lines)
        return lines

    def _wrong(self, expected: str) -> ConfigError:
        end = "; the file ends here" if self._at >= len(self._text) else ""
        return ConfigError(f"{self._name}:{self._line()}: not JSON: expected {expected}{end}")
