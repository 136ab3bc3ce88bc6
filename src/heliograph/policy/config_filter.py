"""Decides which topic settings are synced: MM2's `config.properties.exclude` and `use.defaults.from`.

As `org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heliograph.policy.java_regex import JavaPattern
from heliograph.policy.topic_filter import joined

# KAFKA-20163 (4.3) added the two log.message.timestamp items. Those are broker settings; the topic settings
# are message.timestamp.before.max.ms and .after.max.ms, which are synced.
DEFAULT_CONFIG_PROPERTIES_EXCLUDE = (
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "message.timestamp.difference.max.ms",
    "log.message.timestamp.before.max.ms",
    "log.message.timestamp.after.max.ms",
    "message.timestamp.type",
    "unclean.leader.election.enable",
    "min.insync.replicas",
)


class ConfigPropertyFilter(Protocol):
    """Interface of `config.property.filter.class`. Pure; called on the driver only."""

    def should_replicate_config_property(self, name: str) -> bool: ...

    def should_replicate_source_default(self, name: str) -> bool:
        """Whether a default of the source is set on the target; if not, it is unset there."""


@dataclass(frozen=True, slots=True)
class DefaultConfigPropertyFilter:
    """All settings but `exclude`. Raises InvalidPattern when created, or if a match takes too long."""

    exclude: JavaPattern | None
    defaults_from_source: bool

    @classmethod
    def of(
        cls,
        exclude: Sequence[str] = DEFAULT_CONFIG_PROPERTIES_EXCLUDE,
        use_defaults_from: str = "target",
    ) -> DefaultConfigPropertyFilter:
        """Every `use_defaults_from` but `source` means the target, as in MM2."""
        return cls(joined(exclude), use_defaults_from == "source")

    def should_replicate_config_property(self, name: str) -> bool:
        return self.exclude is None or not self.exclude.matches(name)

    def should_replicate_source_default(self, name: str) -> bool:
        return self.defaults_from_source
