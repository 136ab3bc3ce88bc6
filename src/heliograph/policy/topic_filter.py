"""Decides which topics are mirrored by name: MM2's `topics` and `topics.exclude`.

As `org.apache.kafka.connect.mirror.DefaultTopicFilter`. The items of a list are joined with | and compiled
as one pattern, so an inline flag in one item applies to later ones, and `(a,b)` works although the list is
split at its comma, as in MM2. An empty list matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heliograph.policy.java_regex import JavaPattern

# KIP-1074 (Kafka 4.0) narrowed the first item, which was `.*[\-\.]internal`.
DEFAULT_TOPICS = (".*",)
DEFAULT_TOPICS_EXCLUDE = (r"mm2.*\.internal", r".*\.replica", r"__.*")


class TopicFilter(Protocol):
    """Interface of `topic.filter.class`. Pure; called on the driver only."""

    def accepts(self, topic: str) -> bool: ...

    def why_not(self, topic: str) -> str | None:
        """Why `topic` is excluded; None: it is mirrored."""


def joined(patterns: Sequence[str]) -> JavaPattern | None:
    """The items of a list as one pattern; None, which matches nothing, for an empty list."""
    return JavaPattern("|".join(patterns)) if patterns else None


@dataclass(frozen=True, slots=True)
class DefaultTopicFilter:
    """`topics` without `exclude`. Raises InvalidPattern when created, or if a match takes too long."""

    topics: JavaPattern | None
    exclude: JavaPattern | None

    @classmethod
    def of(
        cls,
        topics: Sequence[str] = DEFAULT_TOPICS,
        exclude: Sequence[str] = DEFAULT_TOPICS_EXCLUDE,
    ) -> DefaultTopicFilter:
        return cls(joined(topics), joined(exclude))

    def accepts(self, topic: str) -> bool:
        return self.why_not(topic) is None

    def why_not(self, topic: str) -> str | None:
        """The setting that excludes `topic`; None: it is mirrored."""
        if self.exclude is not None and self.exclude.matches(topic):
            return f"topics.exclude matches: {self.exclude.pattern}"
        if self.topics is None:
            return "topics is empty, which matches nothing"
        if not self.topics.matches(topic):
            return f"topics does not match: {self.topics.pattern}"
        return None
