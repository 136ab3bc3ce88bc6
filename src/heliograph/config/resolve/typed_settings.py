"""Gives typed access to the settings in force for a flow, a client or a worker."""

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
    """The values of one scope's options: from `settings`, or the defaults. Collects problems."""

    settings: Settings
    scope: Scope
    file_name: str
    problems: list[str]

    def value(self, name: str) -> Value:
        """The default for a bad value, which `value_problems` reports: the mirror does not start."""
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
        """`<name>.interval.seconds`; None: `<name>.enabled` is false or the interval is negative."""
        seconds = self.number(f"{name}.interval.seconds")
        return seconds if self.flag(f"{name}.enabled") and seconds > 0 else None

    def patterns(self, name: str, *, checked: bool = True) -> tuple[str, ...]:
        """A list of Java regular expressions; a bad item is reported with its line.

        Not `checked`: a user's class reads the list and may expect something else.
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
                f"{setting.key}: item {index + 1} of the value of {setting.found.shown!r} is not a regular "
                f"expression, {where} ({self.at(setting)})"
            )
        glob = items[index].startswith("*")
        remedy = "; the regular expression that matches anything is .*" if glob else ""
        return (
            f"{setting.key}: item {index + 1}, {items[index]!r}, is not a regular expression: "
            f"{invalid.reason}, {where}{remedy} ({self.at(setting)})"
        )

    def at(self, setting: Setting) -> str:
        return setting.found.at(self.file_name)


def _default(option: Option) -> Value:
    return "" if option.default is None else option.parse(option.default)


def _culprit(items: Sequence[str], position: int) -> tuple[int, int]:
    """The item of a list joined with | that has the error at `position`, and the position in the item.

    Items that are invalid by themselves are checked first: an open bracket extends to the end of the list.
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
