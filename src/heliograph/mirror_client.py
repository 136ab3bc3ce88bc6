"""MirrorClient: upstream clusters, mirrored topics and translated offsets of a target cluster.

The Python counterpart of MM2's `MirrorClient` and `RemoteClusterUtils` (connect-mirror-client), for records
of Heliograph or Java's MirrorMaker 2.

    with MirrorClient({"bootstrap.servers": "backup:9092"}) as client:
        offsets = client.translate_offsets("primary", "my-group")
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple, Self, overload

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_client_config import MirrorClientConfig, mirror_client_config
from heliograph.errors import NotFound
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.malformed import Malformed
from heliograph.model import TopicPartition
from heliograph.policy import remote_topics
from heliograph.policy.java_regex import JavaPattern
from heliograph.policy.naming import ReplicationPolicy

log = logging.getLogger(__name__)

_CLIENT_ID = "heliograph-mirror-client"


class OffsetAndMetadata(NamedTuple):
    """The offset at which a consumer of the target continues, and the metadata of its commit."""

    offset: int
    metadata: str


Offsets = dict[TopicPartition, OffsetAndMetadata]


class MirrorClient:
    """Reads one cluster, the target of mirrors. Not for several threads at once.

    `properties` are those of MM2's `MirrorClientConfig`. `malformed` counts the records that were skipped
    because they are malformed or of a newer version.
    """

    def __init__(self, properties: Mapping[str, str] | MirrorClientConfig) -> None:
        config = (
            properties
            if isinstance(properties, MirrorClientConfig)
            else mirror_client_config(properties)
        )
        for warning in config.warnings:
            log.warning("%s", warning)
        self.malformed = 0
        self._policy = config.policy
        self._admin = ClusterClient(config.admin, client_id=_CLIENT_ID)
        self._consumer = ClusterClient(config.consumer, client_id=_CLIENT_ID)

    @property
    def replication_policy(self) -> ReplicationPolicy:
        return self._policy

    def replication_hops(self, alias: str) -> int:
        """The number of hops from the upstream cluster `alias` on the shortest path; -1: there is none."""
        return remote_topics.replication_hops(self._policy, self._topics(), alias)

    def upstream_clusters(self) -> set[str]:
        """Clusters whose heartbeats arrive here, at any number of hops."""
        return remote_topics.upstream_clusters(self._policy, self._topics())

    def heartbeat_topics(self) -> set[str]:
        return remote_topics.heartbeat_topics(self._policy, self._topics())

    def checkpoint_topics(self) -> set[str]:
        return remote_topics.checkpoint_topics(self._policy, self._topics())

    def remote_topics(self, source: str | None = None) -> set[str]:
        """Mirrored topics on this cluster; with `source`, those that came directly from it."""
        return remote_topics.remote_topics(self._policy, self._topics(), source)

    @overload
    def translate_offsets(self, alias: str, group: str, timeout: float = ...) -> Offsets: ...
    @overload
    def translate_offsets(
        self, alias: str, *, groups: str | JavaPattern, timeout: float = ...
    ) -> dict[str, Offsets]: ...
    def translate_offsets(
        self,
        alias: str,
        group: str | None = None,
        timeout: float = 30.0,
        *,
        groups: str | JavaPattern | None = None,
    ) -> Offsets | dict[str, Offsets]:
        """Offsets of source groups translated to this cluster, by partition of the mirrored topics.

        `group` is the id of one group; the result is empty for a group without checkpoints. `groups` is a
        Java regular expression that matches whole ids; the result is by id. Raises if the checkpoints cannot
        be read to their end in `timeout` seconds: the result is never partial.
        """
        if (group is None) == (groups is None):
            raise TypeError("translate_offsets: expected either group or groups")
        pattern = JavaPattern(groups) if isinstance(groups, str) else groups
        found: dict[str, Offsets] = {}
        for checkpoint in self.checkpoints(alias, group if pattern is None else pattern, timeout):
            offset = OffsetAndMetadata(checkpoint.downstream, checkpoint.metadata)
            found.setdefault(checkpoint.group, {})[checkpoint.topic_partition] = offset
        return found if group is None else found.get(group, {})

    def checkpoints(
        self, alias: str, groups: str | JavaPattern | None = None, timeout: float = 30.0
    ) -> list[Checkpoint]:
        """The last checkpoint of every group and partition mirrored from `alias`, sorted.

        A tombstone removes the checkpoint before it. A malformed record changes nothing.
        """
        newest: dict[bytes | None, Checkpoint] = {}
        topic = self._policy.checkpoints_topic(alias)
        # MM2 writes to partition 0, even if there are others.
        log_of_topic = LogTail(self._consumer, topic)
        records = log_of_topic.read_new(patience=timeout)
        if log_of_topic.missing:
            raise self._not_found(topic, alias)
        for record in records:
            if record.value is None:
                newest.pop(record.key, None)
                continue
            checkpoint = read_checkpoint(record.key, record.value)
            if isinstance(checkpoint, Malformed):
                self.malformed += 1
                log.warning("%s: offset %d: %s", topic, record.offset, checkpoint.reason)
            elif _is_wanted(checkpoint.group, groups):
                newest[record.key] = checkpoint
        return sorted(newest.values())

    def close(self) -> None:
        self._admin.close()
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _topics(self) -> list[str]:
        """As Kafka's admin client lists them: without `__consumer_offsets` and other internal topics."""
        metadata = self._admin.refresh()
        return sorted(metadata.partitions.keys() - metadata.internal)

    def _not_found(self, topic: str, alias: str) -> NotFound:
        there = sorted(self.checkpoint_topics())
        return NotFound(
            f"{topic}: does not exist, or this client may not read it; expected checkpoints of the source "
            f"{alias!r}, found {', '.join(there) if there else 'none of any source'}"
        )


def _is_wanted(group: str, groups: str | JavaPattern | None) -> bool:
    if groups is None:
        return True
    return group == groups if isinstance(groups, str) else groups.matches(group)
