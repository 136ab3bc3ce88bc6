"""A flow on the shared clusters whose data is copied by hand: no Spark."""

from __future__ import annotations

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.offset_sync import OffsetSync, origin_headers
from heliograph.model import SyncsLocation, TopicIdPair
from heliograph.records.decode import Record
from heliograph.sync.checkpoints import CheckpointSync
from support.clusters.writing import create_topics, delete_topic, numbered, write
from support.flows.mirroring import Flow
from support.waiting import eventually

#: More than one, as with MirrorMaker 2, and not its 25.
OFFSETS_PARTITIONS = 3


class HandMade:
    """One flow with one topic of two partitions on either side; `copy` is what tasks would do."""

    def __init__(self, flow: Flow, source: ClusterClient, target: ClusterClient) -> None:
        self.flow = flow
        self.alias = flow.alias
        self.source_client = source
        self.target_client = target
        self.topic = flow.create(partitions=2)
        self.remote = flow.remote(self.topic)
        create_topics(flow.target, {self.remote: 2, flow.offsets_topic: OFFSETS_PARTITIONS})

    def config(self, **settings: str) -> FlowConfig:
        groups = {"groups": f"{self.alias}.*", "groups_exclude": "", **settings}
        return self.flow.config(**groups).flows[0]

    def checkpoint_sync(self, **settings: str) -> CheckpointSync:
        return CheckpointSync(self.config(**settings), self.source_client, self.target_client)

    def origin(self) -> TopicIdPair:
        """The topics of just now."""
        return TopicIdPair(
            self.source_client.refresh([self.topic]).topic_id(self.topic),
            self.target_client.refresh([self.remote]).topic_id(self.remote),
        )

    def recreate_remote(self) -> None:
        self.delete_remote()
        create_topics(self.flow.target, {self.remote: 2})

    def delete_remote(self) -> None:
        delete_topic(self.flow.target, self.remote)
        eventually(
            lambda: self.remote in self.target_client.refresh([self.remote]).partitions,
            lambda there: not there,
        )

    def group(self, name: str = "billing") -> str:
        return f"{self.alias}-{name}"

    def write(self, number: int, *, partition: int = 0) -> None:
        write(self.flow.source, self.topic, numbered(range(number), partition=partition))

    def copy(self, number: int, *, partition: int = 0) -> None:
        write(self.flow.target, self.remote, numbered(range(number), partition=partition))

    def sync(
        self,
        upstream: int,
        downstream: int,
        *,
        partition: int = 0,
        origin: TopicIdPair | None = None,
        **settings: str,
    ) -> None:
        """An offset sync as tasks write it, to the topic that the configuration says; without an `origin`, as
        MirrorMaker 2 does."""
        syncs = self.config(**settings).offset_syncs
        assert syncs is not None
        on_source = syncs.location is SyncsLocation.SOURCE
        cluster = self.source_client if on_source else self.target_client
        if syncs.topic.name not in cluster.refresh([syncs.topic.name]).partitions:
            create_topics(
                self.flow.source if on_source else self.flow.target,
                {syncs.topic.name: 1},
                configs={"cleanup.policy": "compact"},
            )
        sync = OffsetSync(self.topic, partition, upstream, downstream)
        headers = origin_headers(origin or TopicIdPair())
        record = Record(timestamp=1, key=sync.key(), value=sync.value(), headers=headers)
        RecordWriter(cluster, syncs.topic.name).write({0: [record]})
