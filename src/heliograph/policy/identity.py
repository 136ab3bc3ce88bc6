"""The policy that keeps topic names: `org.apache.kafka.connect.mirror.IdentityReplicationPolicy`."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.policy.naming import HEARTBEATS_TOPIC, DefaultReplicationPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityReplicationPolicy(DefaultReplicationPolicy):
    """Remote topics have the names of their source topics; internal topics still carry the alias.

    Topics that end in `heartbeats` are named by the default policy, so that hops can be counted and
    heartbeats form no cycle. Other topics can form one, which names do not show: `plan/cycles.py` finds it.
    `source_alias` is None for a client that reads any cluster: then no topic's source is known.
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
