"""Which topics a flow is asked to mirror: MM2's `topics` and `topics.exclude`.

Mirrors `org.apache.kafka.connect.mirror.DefaultTopicFilter`. The items of a list are joined with |
and compiled as one pattern, so an inline flag in one item holds for those after it, and `(a,b)`,
which the list splitting tears apart, still works, as in MM2. An empty list matches nothing.
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
    """What `topic.filter.class` decides. Pure; asked on the driver only."""

    def accepts(self, topic: str) -> bool: ...

    def why_not(self, topic: str) -> str | None:
        """What keeps `topic` out, or None if it is to be mirrored."""


def joined(patterns: Sequence[str]) -> JavaPattern | None:
    """One pattern out of a list; None, which matches nothing, for an empty list."""
    return JavaPattern("|".join(patterns)) if patterns else None


@dataclass(frozen=True, slots=True)
class DefaultTopicFilter:
    """`topics` minus `exclude`. InvalidPattern when made, or where `java_regex` gives up."""

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
        """The setting that keeps `topic` out, or None if it is to be mirrored."""
        if self.exclude is not None and self.exclude.matches(topic):
            return f"topics.exclude matches: {self.exclude.pattern}"
        if self.topics is None:
            return "topics is empty, which matches nothing"
        if not self.topics.matches(topic):
            return f"topics does not match: {self.topics.pattern}"
        return None
