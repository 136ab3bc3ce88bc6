"""Connectors with the same aliases, but other clusters, in one service."""

from __future__ import annotations

import json

import pytest

from heliograph.config.formats.load import LoadOptions, load
from heliograph.embedded import Cluster
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from support.clusters.grouping import commit
from support.clusters.reading import read_all
from support.clusters.writing import create_topics, numbered, write
from support.flows.mirroring import TARGET, Flow, mirror_once

MIRROR = "org.apache.kafka.connect.mirror.Mirror"


def connectors(flow: Flow, targets: dict[str, Cluster], topic: str, **settings: str) -> None:
    """A source connector and a checkpoint connector for each target, all with the same two aliases."""
    folder = flow.folder / "connectors"
    folder.mkdir()
    for name, target in targets.items():
        for part in ("Source", "Checkpoint"):
            config = {
                "connector.class": f"{MIRROR}{part}Connector",
                "source.cluster.alias": flow.alias,
                "target.cluster.alias": TARGET,
                "source.cluster.bootstrap.servers": flow.source.bootstrap_servers,
                "target.cluster.bootstrap.servers": target.bootstrap_servers,
                "producer.override.bootstrap.servers": target.bootstrap_servers,
                "topics": topic,
                "groups": f"{flow.alias}-.*",
                "offset-syncs.topic.replication.factor": "1",
                "checkpoints.topic.replication.factor": "1",
                "replication.factor": "1",
                "heartbeats.replication.enabled": "false",
                "sync.topic.acls.enabled": "false",
                **settings,
            }
            document = {"name": f"{flow.alias}-{name}-{part.lower()}", "config": config}
            (folder / f"{name}-{part}.json").write_text(json.dumps(document))


def checkpointed(flow: Flow, target: Cluster) -> int:
    (record,) = read_all(target, f"{flow.alias}.checkpoints.internal")[0]
    checkpoint = read_checkpoint(record.key, record.value)
    assert isinstance(checkpoint, Checkpoint)
    assert checkpoint.upstream == 5
    return checkpoint.downstream


@pytest.mark.parametrize("translation", ["exact", "syncs"])
def test_two_targets_of_one_alias_do_not_share_what_is_known_of_offsets(
    flow: Flow, three_brokers: Cluster, translation: str
) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))
    commit(flow.source, f"{flow.alias}-app", {(topic, 0): 5})
    create_topics(three_brokers, {flow.remote(topic): 1})
    write(three_brokers, flow.remote(topic), numbered(range(100)))  # so the same is found elsewhere
    worker = flow.folder / "worker.properties"
    worker.write_text(
        f"bootstrap.servers = {flow.target.bootstrap_servers}\ngroup.id = {flow.alias}-workers\n"
        f"offset.storage.topic = {flow.alias}-offsets\nconfig.storage.topic = x\n"
        "status.storage.topic = y\noffset.storage.replication.factor = 1\n"
    )
    targets = {"near": flow.target, "far": three_brokers}
    connectors(flow, targets, topic, **{"offset.translation": translation, "offset.lag.max": "0"})

    outcome = mirror_once(flow.spark, load(flow.folder / "connectors", LoadOptions(worker=worker)))

    assert outcome.records == 20
    assert (checkpointed(flow, flow.target), checkpointed(flow, three_brokers)) == (5, 105)
