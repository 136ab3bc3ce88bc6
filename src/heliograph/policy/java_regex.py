r"""Runs Java's regular expressions, as in configurations of MirrorMaker 2.

A pattern is translated and run by the `regex` package with `V1 | ASCII`: V1 has Java's nested and
intersected classes, ASCII has Java's default `\w \d \s \b`. `matches` is a full match, as
`java.util.regex.Matcher.matches()`. What Java refuses is refused here, too, even if `regex` would accept it
(`{e<=1}`, `\m`, `(?R)`), so that a pattern never matches other topics than under MM2. What only Java has
(`\p{java…}`, the flags d, u and U) is refused.

Unicode properties (`\p{L}`, `\p{IsGreek}`) are not ASCII in Java, so they run in a scope of their own,
`(?u:…)`; a class that holds one is scoped as a whole, which is why the ASCII escapes in a class are
written out. Letters still fold by ASCII only under `(?i)`, since that follows the outermost flag.

No pattern blocks a mirror: one that would take long to compile is refused, and a match that takes longer
than 1 s of CPU (`(a|aa)+b`) raises an error with the pattern and the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import regex

from heliograph.errors import InvalidPattern

_FLAGS = regex.V1 | regex.ASCII

#: Counted repetitions are unrolled: `(a{1000}){1000}` has a million parts. Compiling this many takes 0.1 s.
_MAX_PARTS = 50_000
#: CPU time for one text.
_MATCH_SECONDS = 1.0

# Escapes that mean the same to both engines. Java refuses every other escaped letter.
_SAME_ESCAPES = frozenset("tnrfabBAGzRXNu")

# Escapes that differ between the engines or between scopes: (outside a class, inside a class).
_HORIZONTAL = r" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000"
_VERTICAL = r"\n\x0b\f\r\x85\u2028\u2029"
_JAVA_ESCAPES = {
    "e": (r"\x1b", r"\x1b"),
    "h": (f"[{_HORIZONTAL}]", f"[{_HORIZONTAL}]"),
    "H": (f"[^{_HORIZONTAL}]", f"[^{_HORIZONTAL}]"),
    "v": (f"[{_VERTICAL}]", f"[{_VERTICAL}]"),
    "V": (f"[^{_VERTICAL}]", f"[^{_VERTICAL}]"),
    "Z": (r"(?=\n?\z)", ""),
    "d": (r"\d", "[0-9]"),
    "D": (r"\D", "[^0-9]"),
    "s": (r"\s", r"[ \t\n\x0b\f\r]"),
    "S": (r"\S", r"[^ \t\n\x0b\f\r]"),
    "w": (r"\w", "[a-zA-Z0-9_]"),
    "W": (r"\W", "[^a-zA-Z0-9_]"),
}

# POSIX classes are ASCII in Java, and Punct contains symbols that are not punctuation in Unicode.
_POSIX_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}

# What Java accepts in \p{…} besides POSIX classes: a general category, a script, a block, a property.
_UNICODE_PROPERTY = regex.compile(
    r"(?:Is)?(?:L[ultmoC]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?)"
    r"|(?:Is|In)\w+|(?:sc|script|blk|block|gc|general_category)=\w+"
)

_COUNTED = regex.compile(r"\{([0-9]{1,9})(?:,([0-9]{1,9})?)?\}")
_GROUP = regex.compile(r"\(\?(?::|=|!|>|<=|<!|<[a-zA-Z][a-zA-Z0-9]*>|(?P<flags>[a-zA-Z-]*)[:)])")
_PROPERTY = regex.compile(r"\\[pP](?:\{(?P<name>[^}]*)\}|(?P<letter>[A-Z]))")
_HEX = regex.compile(r"\\x\{([0-9a-fA-F]{1,6})\}")
_HEX_PAIR = regex.compile(r"\\x[0-9a-fA-F]{2}")
_OCTAL = regex.compile(r"\\0([0-3]?[0-7]{1,2})")
_NAMED_REFERENCE = regex.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>")
_REPLACEMENT_NAME = regex.compile(r"\{([a-zA-Z][a-zA-Z0-9]*)\}")
_NUMBERED_REFERENCE = regex.compile(r"\\[1-9]")


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A compiled pattern, compared by the text that the user wrote."""

    pattern: str
    _compiled: regex.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", _compile(self.pattern))

    def matches(self, text: str) -> bool:
        """True if the pattern matches all of `text`."""
        return self._match(text) is not None

    def groups(self, text: str) -> tuple[str, ...] | None:
        """The texts of the groups if the pattern matches all of `text`; '' for a group that did not match."""
        match = self._match(text)
        return None if match is None else match.groups("")

    def replace_first(self, text: str, replacement: str) -> str:
        """As `Matcher.replaceFirst`: `text` with the first place where the pattern is found replaced."""
        try:
            found = self._compiled.search(text, timeout=_MATCH_SECONDS)
        except TimeoutError:
            raise self._too_slow(text) from None
        if found is None:
            return text
        parts = read_replacement(self, replacement)
        new = "".join(part if isinstance(part, str) else found[part[0]] or "" for part in parts)
        return f"{text[: found.start()]}{new}{text[found.end() :]}"

    @property
    def group_names(self) -> frozenset[str]:
        return frozenset(self._compiled.groupindex)

    @property
    def group_count(self) -> int:
        return int(self._compiled.groups)

    def _match(self, text: str) -> regex.Match[str] | None:
        try:
            return self._compiled.fullmatch(text, timeout=_MATCH_SECONDS)
        except TimeoutError:
            raise self._too_slow(text) from None

    def _too_slow(self, text: str) -> InvalidPattern:
        reason = f"more than {_MATCH_SECONDS:g} s to match {text!r}; write it with fewer choices"
        return InvalidPattern(self.pattern, 0, reason)

    def __reduce__(self) -> tuple[type[JavaPattern], tuple[str]]:
        return (JavaPattern, (self.pattern,))


#: A text, or a group by number or name.
ReplacementPart = str | tuple[int | str]


def read_replacement(pattern: JavaPattern, replacement: str) -> list[ReplacementPart]:
    r"""The parts of a replacement of `Matcher.replaceFirst`: text, `$1`, `${name}`, `\` before a character.

    Raises ValueError with Java's sentence.
    """
    parts: list[ReplacementPart] = []
    at = 0
    while at < len(replacement):
        character = replacement[at]
        at += 1
        if character == "\\":
            if at == len(replacement):
                raise ValueError("character to be escaped is missing")
            parts.append(replacement[at])
            at += 1
        elif character == "$":
            part, at = _group_reference(pattern, replacement, at)
            parts.append(part)
        else:
            parts.append(character)
    return parts


def _group_reference(
    pattern: JavaPattern, replacement: str, at: int
) -> tuple[ReplacementPart, int]:
    if replacement[at : at + 1] == "{":
        name = _REPLACEMENT_NAME.match(replacement, at)
        if name is None:
            raise ValueError("named capturing group is missing trailing '}'")
        if name[1] not in pattern.group_names:
            raise ValueError(f"No group with name {{{name[1]}}}")
        return (name[1],), name.end()
    if not replacement[at : at + 1].isdecimal() or not replacement[at].isascii():
        raise ValueError("Illegal group reference")
    number = int(replacement[at])
    if number > pattern.group_count:
        raise ValueError(f"No group {number}")
    at += 1
    # Further digits belong to the number as long as there is such a group.
    while replacement[at : at + 1].isdecimal() and replacement[at].isascii():
        longer = number * 10 + int(replacement[at])
        if longer > pattern.group_count:
            break
        number = longer
        at += 1
    return (number,), at


def _compile(pattern: str) -> regex.Pattern[str]:
    translation = _Translation(pattern)
    translated = translation.run()
    try:
        return regex.compile(translated, _FLAGS)
    except regex.error as problem:
        found = problem.pos if problem.pos is not None else 0
        raise InvalidPattern(pattern, translation.origin(found), str(problem.msg)) from None
    except RecursionError:
        raise InvalidPattern(pattern, 0, "groups or classes are nested too deeply") from None


class _Translation:
    """One pass over a pattern. `_origins[i]` is the position that character i of the output came from."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._class_depth = 0
        self._class_start = 0
        self._class_is_unicode = False
        self._output: list[str] = []
        self._origins: list[int] = []
        self._parts = [0]  # of each open group, the whole pattern first
        self._last_parts = 0  # of the element that a repetition would repeat

    def run(self) -> str:
        while self._position < len(self._pattern):
            if self._pattern[self._position] == "\\":
                self._escape()
            elif self._class_depth:
                self._in_class()
            else:
                self._outside()
        return "".join(self._output)

    def origin(self, position: int) -> int:
        return self._origins[position] if position < len(self._origins) else len(self._pattern)

    def _emit(self, text: str, consumed: int) -> None:
        self._output.append(text)
        self._origins.extend([self._position] * len(text))
        self._position += consumed

    def _part(self, parts: int = 1) -> None:
        self._parts[-1] += parts
        self._last_parts = parts

    def _repeat(self, times: int) -> None:
        parts = self._last_parts * times
        self._parts[-1] += parts - self._last_parts
        self._last_parts = parts
        if self._parts[-1] > _MAX_PARTS:
            raise self._refuse("repetitions multiply to too many parts; write * or +")

    def _refuse(self, reason: str) -> InvalidPattern:
        return InvalidPattern(self._pattern, self._position, reason)

    def _escape(self) -> None:
        letter = self._pattern[self._position + 1 : self._position + 2]
        if not self._class_depth:
            self._part()
        if letter == "Q":
            self._quotation()
        elif letter in ("p", "P"):
            self._property(negated=letter == "P")
        elif letter in _JAVA_ESCAPES:
            outside, inside = _JAVA_ESCAPES[letter]
            self._emit(inside if self._class_depth else outside, 2)
        elif letter in _SAME_ESCAPES or not letter.isascii() or not letter.isalnum():
            self._emit(self._pattern[self._position : self._position + 2], 2)
        else:
            self._code_or_reference()

    def _quotation(self) -> None:
        start = self._position + 2
        end = self._pattern.find(r"\E", start)
        literal = self._pattern[start:] if end < 0 else self._pattern[start:end]
        self._emit("", 2)
        for character in literal:
            self._emit(regex.escape(character, special_only=False), 1)
            self._part()
        self._emit("", 0 if end < 0 else 2)

    def _property(self, *, negated: bool) -> None:
        match = _PROPERTY.match(self._pattern, self._position)
        if match is None:
            raise self._refuse(r"\p needs a class name in braces")
        name = match["name"] or match["letter"] or ""
        if name.startswith("java"):
            raise self._refuse(rf"\p{{{name}}} exists only in Java; write the characters, [a-z]")
        posix = _POSIX_CLASSES.get(name)
        if posix is not None:
            self._emit(f"[{'^' if negated else ''}{posix}]", len(match[0]))
            return
        if not _UNICODE_PROPERTY.fullmatch(name):
            raise self._refuse(rf"\p{{{name}}} is not a character class of Java's")
        self._class_is_unicode = True
        self._emit(match[0] if self._class_depth else f"(?u:{match[0]})", len(match[0]))

    def _code_or_reference(self) -> None:
        at = self._position
        if match := _NAMED_REFERENCE.match(self._pattern, at):
            self._emit(f"(?P={match[1]})", len(match[0]))
        elif match := _HEX.match(self._pattern, at):
            self._emit(rf"\U{int(match[1], 16):08x}", len(match[0]))
        elif match := _OCTAL.match(self._pattern, at):
            self._emit(rf"\x{int(match[1], 8):02x}", len(match[0]))
        elif match := _HEX_PAIR.match(self._pattern, at) or _NUMBERED_REFERENCE.match(
            self._pattern, at
        ):
            self._emit(match[0], len(match[0]))
        else:
            raise self._refuse(
                f"{self._pattern[at : at + 2]} is not an escape of Java's regular expressions"
            )

    def _in_class(self) -> None:
        pair = self._pattern[self._position : self._position + 2]
        if pair == "--":
            raise self._refuse(r"-- in a character class is ambiguous; write \-")
        if pair in ("||", "~~"):  # plain characters to Java, operators to `regex`
            self._emit(f"\\{pair[0]}", 1)
            return
        if pair[0] == "[":
            self._open_class()
            return
        self._emit(pair[0], 1)
        if pair[0] == "]":
            self._close_class()

    def _close_class(self) -> None:
        self._class_depth -= 1
        if not self._class_depth:
            self._part()
        if not self._class_depth and self._class_is_unicode:
            self._output.insert(self._class_start, "(?u:")
            at = sum(map(len, self._output[: self._class_start]))
            self._origins[at:at] = [self._origins[at]] * 4
            self._emit(")", 0)

    def _open_class(self) -> None:
        """A `]` right after the opening is a plain character, to both engines."""
        if not self._class_depth:
            self._class_start = len(self._output)
            self._class_is_unicode = False
        self._class_depth += 1
        self._emit("[", 1)
        if self._pattern.startswith("^", self._position):
            self._emit("^", 1)
        if self._pattern.startswith("]", self._position):
            self._emit(r"\]", 1)
        if self._pattern.startswith(":", self._position):
            self._emit(r"\:", 1)  # [[:alpha:]] is a set of six characters in Java

    def _outside(self) -> None:
        character = self._pattern[self._position]
        if character == "[":
            self._open_class()
        elif character == "{":
            counted = _COUNTED.match(self._pattern, self._position)
            if counted is None:
                raise self._refuse(r"{ starts a repetition such as {2,3}; write \{ for a brace")
            self._repeat(max(int(number or 0) for number in counted.groups()))
            self._emit(counted[0], len(counted[0]))
        elif self._pattern.startswith("(?", self._position):
            self._group()
        else:
            self._plain(character)

    def _plain(self, character: str) -> None:
        if character == "(":
            self._parts.append(0)
        elif character == ")" and len(self._parts) > 1:
            self._part(self._parts.pop())
        elif character not in "|*+?":
            self._part()
        self._emit(character, 1)

    def _group(self) -> None:
        match = _GROUP.match(self._pattern, self._position)
        if match is None or set(match["flags"] or "") - set("imsxduU-"):
            raise self._refuse("this kind of group does not exist in Java")
        if set(match["flags"] or "") & set("duU"):
            raise self._refuse("the flags d, u and U are not supported")
        if not match[0].endswith(")"):  # as (?i) does
            self._parts.append(0)
        self._emit(match[0], len(match[0]))
