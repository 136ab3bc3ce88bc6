"""Parses `sasl.jaas.config` as Java does.

    module.Class required username="alice" password="secret";

Mirrors `JaasConfig` and `JaasContext` of Kafka, which use `java.io.StreamTokenizer`: outside of quotes `/`
begins a comment, and a word that begins with a digit is a number and not a value. What Java refuses is
refused here. No message contains a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from heliograph.config.options.values import InvalidValue
from heliograph.security import Secret

_FLAGS = ("required", "requisite", "sufficient", "optional")
_ESCAPES = {"a": "\x07", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\x0b"}
_QUOTE = "; put the value in double quotes"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    """`options` are in the order of first appearance; the last value of each counts."""

    name: str
    options: dict[str, Secret]

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]


class _Kind(Enum):
    WORD = auto()  #   also text in quotes
    NUMBER = auto()
    SIGN = auto()  #   any other single character


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str

    def is_sign(self, sign: str) -> bool:
        return self.kind is _Kind.SIGN and self.text == sign


def parse_jaas(text: str) -> LoginModule:
    """The one login module of a client. Raises InvalidValue."""
    tokens, modules = _Tokens(text), []
    while (token := tokens.next()) is not None:
        modules.append(_module(token, tokens))
    if not modules:
        raise InvalidValue("a login module, its control flag and its options")
    if len(modules) > 1:
        raise InvalidValue(f"one login module (found {len(modules)})")
    return modules[0]


def _module(name: _Token, tokens: _Tokens) -> LoginModule:
    if name.kind is not _Kind.WORD:
        raise InvalidValue("a login module's class name first")
    flag = tokens.next()
    if flag is None or flag.kind is not _Kind.WORD or flag.text.lower() not in _FLAGS:
        raise InvalidValue(f"the control flag {', '.join(_FLAGS[:-1])} or optional after the class")
    options: dict[str, Secret] = {}
    while (token := tokens.next()) is not None and not token.is_sign(";"):
        key, value = _option(token, tokens, options)
        options[key] = value
    if token is None:
        hint = " (outside of quotes, / begins a comment)" if tokens.commented else ""
        raise InvalidValue(f"a semicolon at the end{hint}")
    return LoginModule(name=name.text, options=options)


def _option(key: _Token, tokens: _Tokens, before: dict[str, Secret]) -> tuple[str, Secret]:
    if key.kind is not _Kind.WORD:
        last = f" after the value of {next(reversed(before))}" if before else ""
        raise InvalidValue(f"name=value{last}{_QUOTE if before else ''}")
    equals = tokens.next()
    value = tokens.next() if equals is not None and equals.is_sign("=") else None
    if value is None or value.kind is not _Kind.WORD:
        quote = _QUOTE if value is not None else ""
        raise InvalidValue(f'a value for {key.text}, as {key.text}="…"{quote}')
    return key.text, Secret(value.text)


class _Tokens:
    """`StreamTokenizer`, configured as in Kafka."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.commented = False  # a single / began a comment, rarely on purpose
        self._all = self._scan()

    def next(self) -> _Token | None:
        return next(self._all, None)

    def _scan(self) -> Iterator[_Token]:
        while self._at < len(self._text):
            c = self._text[self._at]
            if c <= " ":
                self._at += 1
            elif _is_digit(c):
                yield self._number()
            elif _is_alpha(c):
                yield self._word()
            elif c in "\"'":
                yield self._quoted(c)
            elif c == "/":
                self._comment()
            else:
                self._at += 1
                yield _Token(_Kind.SIGN, c)

    def _number(self) -> _Token:
        start = self._at
        self._at += 1
        if self._text[start] == "-" and not self._peek().isdigit() and self._peek() != ".":
            return _Token(_Kind.SIGN, "-")
        while self._peek() == "." or (self._peek().isascii() and self._peek().isdigit()):
            self._at += 1
        return _Token(_Kind.NUMBER, self._text[start : self._at])

    def _word(self) -> _Token:
        start = self._at
        while self._peek() and (_is_alpha(self._peek()) or _is_digit(self._peek())):
            self._at += 1
        return _Token(_Kind.WORD, self._text[start : self._at])

    def _quoted(self, quote: str) -> _Token:
        """Up to the closing quote or the end of the line."""
        self._at += 1
        found = []
        while self._peek() and self._peek() not in (quote, "\n", "\r"):
            found.append(self._escaped() if self._peek() == "\\" else self._take())
        if self._peek() == quote:
            self._at += 1
        return _Token(_Kind.WORD, "".join(found))

    def _escaped(self) -> str:
        self._at += 1
        first = self._take()
        if not ("0" <= first <= "7"):
            return _ESCAPES.get(first, first)
        digits = first
        while len(digits) < (3 if first <= "3" else 2) and "0" <= self._peek() <= "7":
            digits += self._take()
        return chr(int(digits, 8))

    def _comment(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "*":
            end = self._text.find("*/", self._at + 2)
            self._at = len(self._text) if end < 0 else end + 2
            return
        self.commented |= following != "/"
        while self._peek() and self._peek() not in "\r\n":
            self._at += 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1 : self._at]


def _is_digit(c: str) -> bool:
    return c in "0123456789.-"


def _is_alpha(c: str) -> bool:
    return (c.isascii() and c.isalpha()) or c in "_$" or c >= "\xa0"
