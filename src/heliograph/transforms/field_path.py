"""Paths to nested fields, as Connect's `SingleFieldPath` reads them (KIP-821)."""

from __future__ import annotations


class WrongPath(ValueError):
    """The text is Connect's."""


def field_path(text: str, version: str) -> tuple[str, ...]:
    """Version V1: the text is one name. V2: dots separate names; backticks go round a name with dots, and a
    backslash before a backtick inside. Raises WrongPath."""
    if version == "V1":
        return (text,)
    steps: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "`":
            step, at = _quoted(text, at)
        else:
            end = text.find(".", at)
            step, at = (text[at:], len(text)) if end < 0 else (text[at:end], end + 1)
        steps.append(step)
    if text.endswith("."):
        steps.append("")
    return tuple(steps)


def _quoted(text: str, opening: int) -> tuple[str, int]:
    start = opening + 1
    name = ""
    at = start
    while True:
        at = text.find("`", at)
        if at < 0:
            raise _unclosed(text, opening)
        escaped = text[at - 1] == "\\"
        if at >= len(text) - 1:
            if escaped:
                raise _unclosed(text, opening)
            return name + text[start:at], at + 1
        if text[at + 1] != ".":
            at += 1
        elif escaped:
            name += text[start : at - 1] + "`"
            at += 1
            start = at
        else:
            return name + text[start:at], at + 2


def _unclosed(text: str, opening: int) -> WrongPath:
    return WrongPath(
        f"Incomplete backtick pair in path: [{text}], consider adding a backslash before backtick at "
        f"position {opening} to escape it"
    )
