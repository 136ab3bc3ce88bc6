"""Decides which consumer groups get checkpoints: MM2's `groups` and `groups.exclude`.

As `org.apache.kafka.connect.mirror.DefaultGroupFilter`; lists are read as in `topic_filter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heliograph.policy.java_regex import JavaPattern
from heliograph.policy.topic_filter import joined

DEFAULT_GROUPS = (".*",)
DEFAULT_GROUPS_EXCLUDE = ("console-consumer-.*", "connect-.*", "__.*")


class GroupFilter(Protocol):
    """Interface of `group.filter.class`. Pure; called on the driver only."""

    def accepts(self, group: str) -> bool: ...

    def why_not(self, group: str) -> str | None:
        """Why `group` is excluded; None: its offsets are translated."""


@dataclass(frozen=True, slots=True)
class DefaultGroupFilter:
    """`groups` without `exclude`. Raises InvalidPattern when created, or if a match takes too long."""

    groups: JavaPattern | None
    exclude: JavaPattern | None

    @classmethod
    def of(
        cls,
        groups: Sequence[str] = DEFAULT_GROUPS,
        exclude: Sequence[str] = DEFAULT_GROUPS_EXCLUDE,
    ) -> DefaultGroupFilter:
        return cls(joined(groups), joined(exclude))

    def accepts(self, group: str) -> bool:
        return self.why_not(group) is None

    def why_not(self, group: str) -> str | None:
        if self.exclude is not None and self.exclude.matches(group):
            return f"groups.exclude matches: {self.exclude.pattern}"
        if self.groups is None:
            return "groups is empty, which matches nothing"
        if not self.groups.matches(group):
            return f"groups does not match: {self.groups.pattern}"
        return None
