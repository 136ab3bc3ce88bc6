"""RenameReplicationPolicy: renames topics by a map and by rules. MM2 has no such policy.

    replication.policy.class = RenameReplicationPolicy
    replication.policy.topic.map = orders:sales.orders, refunds:sales.refunds
    replication.policy.topic.rename = (.*)-prod => $1-dr ; eu\\.(.*) => $1

The map takes precedence over the rules, and the first rule that matches the whole name counts. A topic in
neither keeps its name. Heartbeats are named by the default policy, as under Identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from heliograph.errors import ConfigError
from heliograph.policy.naming import DefaultReplicationPolicy
from heliograph.policy.rename_rule import RenameRule

TOPIC_MAP = "replication.policy.topic.map"
TOPIC_RENAME = "replication.policy.topic.rename"

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameReplicationPolicy(DefaultReplicationPolicy):
    """Law: `format_remote_topic` of an `upstream_topic` is that topic again; None if no name is renamed to
    it.

    Several source topics may have one remote topic (`plan_topics` refuses them); `upstream_topic` then
    returns one of them.
    """

    source_alias: str
    topic_map: tuple[tuple[str, str], ...] = ()
    rules: tuple[RenameRule, ...] = ()

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        if self._default.is_heartbeats_topic(topic):
            return self._default.format_remote_topic(source_alias, topic)
        for name, renamed in self.topic_map:
            if name == topic:
                return renamed
        for rule in self.rules:
            if (remote := rule.apply(topic)) is not None:
                return remote
        return topic

    def topic_source(self, topic: str) -> str | None:
        if self._default.is_heartbeats_topic(topic):
            return self._default.topic_source(topic)
        return None if self.upstream_topic(topic) is None else self.source_alias

    def upstream_topic(self, topic: str) -> str | None:
        if self._default.is_heartbeats_topic(topic):
            return self._default.upstream_topic(topic)
        for candidate in self._candidates(topic):
            if self.format_remote_topic(self.source_alias, candidate) == topic:
                return candidate
        return None

    def original_topic(self, topic: str) -> str:
        """At most one hop: other flows may have other policies."""
        if self._default.is_heartbeats_topic(topic):
            return self._default.original_topic(topic)
        return self.upstream_topic(topic) or topic

    def _candidates(self, topic: str) -> Iterator[str]:
        yield from (name for name, renamed in self.topic_map if renamed == topic)
        yield from (name for rule in self.rules if (name := rule.reverse(topic)) is not None)
        yield topic

    @property
    def _default(self) -> DefaultReplicationPolicy:
        return DefaultReplicationPolicy(
            separator=self.separator,
            internal_topic_separator_enabled=self.internal_topic_separator_enabled,
        )


def read_topic_map(text: str) -> tuple[tuple[str, str], ...]:
    """Parses `orders:sales.orders, refunds:sales.refunds`; every name at most once on either side."""
    pairs: list[tuple[str, str]] = []
    for item in filter(None, map(str.strip, text.split(","))):
        name, colon, renamed = (part.strip() for part in item.partition(":"))
        if not colon or not _LEGAL_NAME.fullmatch(name) or not _LEGAL_NAME.fullmatch(renamed):
            raise ConfigError(
                f"{TOPIC_MAP}: expected pairs such as orders:sales.orders, separated by commas, "
                f"found {item!r}"
            )
        pairs.append((name, renamed))
    for side, names in (("source", [a for a, _ in pairs]), ("remote", [b for _, b in pairs])):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ConfigError(f"{TOPIC_MAP}: {side} topic named more than once: {', '.join(twice)}")
    return tuple(pairs)


def read_rename_rules(text: str) -> tuple[RenameRule, ...]:
    """Parses `pattern => name ; pattern => name`; a topic name cannot contain a semicolon."""
    rules = []
    for item in filter(None, map(str.strip, text.split(";"))):
        pattern, arrow, replacement = (part.strip() for part in item.partition("=>"))
        if not arrow or not pattern or not replacement:
            raise ConfigError(
                f"{TOPIC_RENAME}: expected rules such as (.*)-prod => $1-dr, separated by "
                f"semicolons, found {item!r}"
            )
        try:
            rules.append(RenameRule.of(pattern, replacement))
        except ConfigError as problem:
            raise ConfigError(f"{TOPIC_RENAME}: {problem}") from problem
    return tuple(rules)
