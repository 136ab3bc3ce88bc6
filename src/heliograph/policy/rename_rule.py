"""One reversible rule that renames topics: `(.*)-prod => $1-dr`.

To be reversible, the pattern consists of plain text and groups, and the new name has every group exactly
once. So both sides are the same groups between different texts:

    (.*)-prod  =>  $1-dr       pattern  [1]"-prod"     new name  [1]"-dr"
    (.*)-dr    =>  $1-prod     reversed
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.errors import ConfigError, InvalidPattern
from heliograph.policy.java_regex import JavaPattern

#: A side of a rule: plain texts, and numbers of groups.
Parts = tuple[str | int, ...]

_REPLACEMENT = re.compile(r"\$(?P<group>[1-9])|(?P<text>[a-zA-Z0-9._-]+)")
_REFERENCE = re.compile(r"\\(?:[1-9]|k<)")


@dataclass(frozen=True, slots=True)
class RenameRule:
    """Raises ConfigError when created, or if a match takes too long."""

    name: Parts
    renamed: Parts
    name_pattern: JavaPattern
    renamed_pattern: JavaPattern

    @classmethod
    def of(cls, pattern: str, replacement: str) -> RenameRule:
        name_pattern = JavaPattern(pattern)
        name, bodies = _read_pattern(pattern)
        renamed = _read_replacement(replacement, pattern, len(bodies))
        reversed_pattern = "".join(
            f"({bodies[part - 1]})" if isinstance(part, int) else part.replace(".", r"\.")
            for part in renamed
        )
        return cls(name, renamed, name_pattern, JavaPattern(reversed_pattern))

    def apply(self, topic: str) -> str | None:
        """The new name of `topic`, or None if the pattern does not match."""
        return _carry_over(self.name_pattern.groups(topic), self.name, self.renamed)

    def reverse(self, remote_topic: str) -> str | None:
        """A name that may have been renamed to `remote_topic`. Greedy groups can split it differently than
        `apply` did (`(.*)-(.*) => $2-$1`): apply the rule to the result to verify it."""
        return _carry_over(self.renamed_pattern.groups(remote_topic), self.renamed, self.name)


def _carry_over(caught: Sequence[str] | None, found: Parts, wanted: Parts) -> str | None:
    if caught is None:
        return None
    numbers = [part for part in found if isinstance(part, int)]
    texts = dict(zip(numbers, caught, strict=True))
    return "".join(texts[part] if isinstance(part, int) else part for part in wanted)


def _read_pattern(pattern: str) -> tuple[Parts, tuple[str, ...]]:
    parts: list[str | int] = []
    bodies: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "(":
            end = _closing(pattern, at)
            bodies.append(_checked_body(pattern, at, pattern[at + 1 : end]))
            parts.append(len(bodies))
            at = end + 1
            continue
        if character == "\\":
            at += 1
            character = pattern[at]
            plain = not character.isalnum()
        else:
            plain = character.isalnum() or character in "_-"
        if not plain:
            raise InvalidPattern(
                pattern, at, r"outside ( ) a rule holds plain text only, a dot written as \."
            )
        parts.append(character)
        at += 1
    return tuple(parts), tuple(bodies)


def _closing(pattern: str, start: int) -> int:
    """The end of the group that opens at `start`."""
    depth, in_class, at = 0, 0, start
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif character in "[]":
            in_class += 1 if character == "[" else -1
        elif not in_class and character in "()":
            depth += 1 if character == "(" else -1
            if not depth:
                return at
        at += 1
    raise InvalidPattern(pattern, start, r"this group cannot be parsed; write \( \) \[ \] in it")


def _checked_body(pattern: str, at: int, body: str) -> str:
    if body.startswith("?"):
        raise InvalidPattern(pattern, at, "a rule's groups are plain ones, ( ), numbered $1 to $9")
    if JavaPattern(f"({body})").group_count > 1:
        raise InvalidPattern(pattern, at, "a group in a group cannot be reversed; write (?: )")
    if _REFERENCE.search(body):
        raise InvalidPattern(pattern, at, "a reference to another group cannot be reversed")
    return body


def _read_replacement(replacement: str, pattern: str, groups: int) -> Parts:
    parts: list[str | int] = []
    at = 0
    while at < len(replacement):
        match = _REPLACEMENT.match(replacement, at)
        if match is None:
            raise ConfigError(
                f"{replacement!r}: a new name holds letters, digits, '.', '_', '-' and groups $1 to $9, "
                f"found {replacement[at]!r}"
            )
        parts.append(int(match["group"]) if match["group"] else match["text"])
        at = match.end()
    numbers = [part for part in parts if isinstance(part, int)]
    if sorted(numbers) != list(range(1, groups + 1)):
        raise ConfigError(
            f"{replacement!r}: expected every group of {pattern!r} exactly once "
            f"({', '.join(f'${n}' for n in range(1, groups + 1)) or 'it has none'}), so that the name can be "
            f"traced back; found {', '.join(f'${n}' for n in numbers) or 'none'}"
        )
    return tuple(parts)
