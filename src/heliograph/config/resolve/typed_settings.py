"""Typed access to the settings in force at one place of a configuration; problems are collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.config.options import OPTIONS, Option, Scope
from heliograph.config.options.values import InvalidValue, Value, parse_list
from heliograph.config.resolve.layers import Setting, Settings
from heliograph.errors import InvalidPattern
from heliograph.policy.topic_filter import joined


@dataclass(frozen=True, slots=True)
class TypedSettings:
    """What `settings` say of the options of one scope, or the options' defaults."""

    settings: Settings
    scope: Scope
    file_name: str
    problems: list[str]

    def value(self, name: str) -> Value:
        """A bad value was reported by `value_problems`; the mirror will not be made."""
        option = OPTIONS[self.scope, name]
        if name in self.settings:
            try:
                return option.parse(self.settings[name].value)
            except InvalidValue:
                return _default(option)
        return _default(option)

    def number(self, name: str) -> int:
        return int(str(self.value(name)))

    def text(self, name: str) -> str:
        return str(self.value(name))

    def flag(self, name: str) -> bool:
        return bool(self.value(name))

    def interval(self, name: str) -> int | None:
        """`<name>.interval.seconds`, or None where `<name>.enabled` is false or it is negative."""
        seconds = self.number(f"{name}.interval.seconds")
        return seconds if self.flag(f"{name}.enabled") and seconds > 0 else None

    def patterns(self, name: str, *, checked: bool = True) -> tuple[str, ...]:
        """A list of Java regular expressions; a bad one is reported with its item and line.

        Not `checked`: a user's class reads them, in its own way.
        """
        setting = self.settings.get(name)
        if setting is None:
            return parse_list(str(OPTIONS[self.scope, name].default))
        items = parse_list(setting.value)
        if checked and not setting.found.broken:
            try:
                joined(items)
            except InvalidPattern as invalid:
                self.problems.append(self._bad_pattern(setting, items, invalid))
        return items

    def _bad_pattern(self, setting: Setting, items: Sequence[str], invalid: InvalidPattern) -> str:
        index, position = _culprit(items, invalid.position)
        where = f"at character {position + 1}"
        if setting.found.written is not None:
            return (
                f"{setting.key}: item {index + 1} of what {setting.found.shown!r} stands for is not "
                f"a regular expression, {where} ({self.at(setting)})"
            )
        glob = items[index].startswith("*")
        remedy = "; a regular expression for anything is .*" if glob else ""
        return (
            f"{setting.key}: item {index + 1}, {items[index]!r}, is not a regular expression: "
            f"{invalid.reason}, {where}{remedy} ({self.at(setting)})"
        )

    def at(self, setting: Setting) -> str:
        return setting.found.at(self.file_name)


def _default(option: Option) -> Value:
    return "" if option.default is None else option.parse(option.default)


def _culprit(items: Sequence[str], position: int) -> tuple[int, int]:
    """Which item of a list joined with | is to blame for an error at a position, and where in it.

    An item that is wrong by itself comes first: its open bracket runs on to the end of the list.
    """
    for index, item in enumerate(items):
        try:
            joined([item])
        except InvalidPattern as invalid:
            return index, min(invalid.position, len(item))
    for index, item in enumerate(items):
        if position <= len(item):
            return index, position
        position -= len(item) + 1
    return len(items) - 1, len(items[-1])
