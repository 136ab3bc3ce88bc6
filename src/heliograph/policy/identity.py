"""Topics that keep their name: `org.apache.kafka.connect.mirror.IdentityReplicationPolicy`."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.policy.naming import HEARTBEATS_TOPIC, DefaultReplicationPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityReplicationPolicy(DefaultReplicationPolicy):
    """Remote topics are called as their source topics; internal topics still carry the alias.

    Whatever ends in `heartbeats` is named by the default policy, so that hops can be counted and
    heartbeats never go in circles. Other topics can: names do not show it, `plan/cycles.py` does.
    `source_alias` None (a client that reads any cluster) means that no topic's source is known.
    """

    source_alias: str | None = None

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        if topic.endswith(HEARTBEATS_TOPIC):
            return DefaultReplicationPolicy.format_remote_topic(self, source_alias, topic)
        return topic

    def topic_source(self, topic: str) -> str | None:
        if topic.endswith(HEARTBEATS_TOPIC):
            return DefaultReplicationPolicy.topic_source(self, topic)
        return self.source_alias

    def upstream_topic(self, topic: str) -> str | None:
        if topic.endswith(HEARTBEATS_TOPIC):
            return DefaultReplicationPolicy.upstream_topic(self, topic)
        return topic
