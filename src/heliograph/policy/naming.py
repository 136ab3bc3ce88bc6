"""Names mirrored topics, and recognises internal topics.

As `org.apache.kafka.connect.mirror.DefaultReplicationPolicy` of Kafka 4.3. Any local topic with the
separator in its name looks remote (`orders.eu` seems to come from a cluster `orders`). That is MM2's rule;
with another one Heliograph and MM2 could not replace each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HEARTBEATS_TOPIC = "heartbeats"
DEFAULT_SEPARATOR = "."


class ReplicationPolicy(Protocol):
    """Names of remote topics. Pure; called on the driver only.

    Law: `topic_source(format_remote_topic(alias, t)) == alias` and
    `upstream_topic(format_remote_topic(alias, t)) == t`, for every alias without the separator; if names do
    not carry the alias, for the alias of the flow's source only.
    """

    def format_remote_topic(self, source_alias: str, topic: str) -> str: ...
    def topic_source(self, topic: str) -> str | None: ...
    def upstream_topic(self, topic: str) -> str | None: ...
    def original_topic(self, topic: str) -> str: ...
    def heartbeats_topic(self) -> str: ...
    def offset_syncs_topic(self, alias: str) -> str: ...
    def checkpoints_topic(self, alias: str) -> str: ...
    def is_heartbeats_topic(self, topic: str) -> bool: ...
    def is_checkpoints_topic(self, topic: str) -> bool: ...
    def is_mm2_internal_topic(self, topic: str) -> bool: ...
    def is_internal_topic(self, topic: str) -> bool: ...


@dataclass(
    frozen=True, kw_only=True
)  # no slots: policies of users derive from it and add attributes
class DefaultReplicationPolicy:
    """`<source alias><separator><topic>`.

    `internal_topic_separator_enabled` (KIP-949): whether internal topics use the separator, too.
    """

    separator: str = DEFAULT_SEPARATOR
    internal_topic_separator_enabled: bool = True

    @property
    def internal_separator(self) -> str:
        return self.separator if self.internal_topic_separator_enabled else DEFAULT_SEPARATOR

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return f"{source_alias}{self.separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        """The part before the first separator; None if nothing follows it.

        As Java's `split`, which drops empty parts at the end: `abc.` has no source, `.abc` has ''.
        """
        head, _, tail = topic.partition(self.separator)
        return head if tail.replace(self.separator, "") else None

    def upstream_topic(self, topic: str) -> str | None:
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self.separator) :]

    def original_topic(self, topic: str) -> str:
        """The name of the topic on the cluster where it was first written."""
        while (upstream := self.upstream_topic(topic)) not in (None, topic):
            topic = upstream
        return topic

    def heartbeats_topic(self) -> str:
        return HEARTBEATS_TOPIC

    def offset_syncs_topic(self, alias: str) -> str:
        return f"mm2-offset-syncs{self.internal_separator}{alias}{self.internal_separator}internal"

    def checkpoints_topic(self, alias: str) -> str:
        return f"{alias}{self._checkpoints_suffix}"

    def is_heartbeats_topic(self, topic: str) -> bool:
        return self.original_topic(topic) == HEARTBEATS_TOPIC

    def is_checkpoints_topic(self, topic: str) -> bool:
        return topic.endswith(self._checkpoints_suffix)

    def is_mm2_internal_topic(self, topic: str) -> bool:
        """Since KIP-1074 (4.0) only MM2's own names; before, all topics that end in `.internal`."""
        mm2 = topic.startswith("mm2") and topic.endswith(f"{self.internal_separator}internal")
        return mm2 or self.is_checkpoints_topic(topic)

    def is_internal_topic(self, topic: str) -> bool:
        return topic.startswith(("__", ".")) or self.is_mm2_internal_topic(topic)

    @property
    def _checkpoints_suffix(self) -> str:
        return f"{self.internal_separator}checkpoints{self.internal_separator}internal"
