"""Mirrors that are described as connectors, or as a resource of Strimzi."""

from __future__ import annotations

import json

import yaml

from heliograph.config.formats.load import LoadOptions, load
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from support.clusters.grouping import commit
from support.clusters.reading import read_all, topics_of
from support.clusters.writing import numbered, write
from support.flows.mirroring import TARGET, Flow, mirror_once


def test_a_worker_at_the_source_keeps_the_offsets_there(flow: Flow) -> None:
    """Scenario D2: one connector, records by an override to the target, and a second run that resumes"""
    topic = flow.create()
    write(flow.source, topic, numbered(range(5)))
    offsets = f"{flow.alias}-offsets"
    worker = flow.folder / "worker.properties"
    worker.write_text(
        f"bootstrap.servers = {flow.source.bootstrap_servers}\ngroup.id = {flow.alias}-workers\n"
        f"offset.storage.topic = {offsets}\nconfig.storage.topic = x\nstatus.storage.topic = y\n"
        "offset.storage.replication.factor = 1\n"
    )
    connector = flow.folder / "connectors.json"
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": flow.alias,
        "topics": topic,
        "source.cluster.bootstrap.servers": flow.source.bootstrap_servers,
        "target.cluster.bootstrap.servers": flow.target.bootstrap_servers,
        "producer.override.bootstrap.servers": flow.target.bootstrap_servers,
        "offset-syncs.topic.replication.factor": "1",
        "replication.factor": "1",
        "heartbeats.replication.enabled": "false",
    }
    connector.write_text(json.dumps({"name": f"{flow.alias}-msc", "config": config}))
    mirror = load(connector, LoadOptions(worker=worker))

    first = mirror_once(flow.spark, mirror)
    write(flow.source, topic, numbered(range(5, 8)))
    second = mirror_once(flow.spark, mirror)

    assert (first.good, first.records, second.good, second.records) == (True, 5, True, 3)
    flow.assert_mirrored(topic)
    stored = [
        offset
        for records in read_all(flow.source, offsets).values()
        for record in records
        if isinstance(offset := read_source_offset(record.key, record.value), SourceOffset)
    ]
    assert {(each.connector, each.topic) for each in stored} == {(f"{flow.alias}-msc", topic)}
    assert max(each.resume_at or 0 for each in stored) == 8
    assert offsets not in topics_of(flow.target)


def test_a_resource_of_strimzi_mirrors_records_and_follows_groups(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(4)))
    commit(flow.source, f"{flow.alias}-app", {(topic, 0): 3})
    name = f"{flow.alias}-strimzi"
    resource = {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaMirrorMaker2",
        "metadata": {"name": name},
        "spec": {
            "target": {
                "alias": TARGET,
                "bootstrapServers": flow.target.bootstrap_servers,
                "groupId": name,
                "configStorageTopic": f"{name}-config",
                "offsetStorageTopic": f"{name}-offset",
                "statusStorageTopic": f"{name}-status",
                "config": {"offset.storage.replication.factor": -1},
            },
            "mirrors": [
                {
                    "source": {
                        "alias": flow.alias,
                        "bootstrapServers": flow.source.bootstrap_servers,
                    },
                    "sourceConnector": {
                        "tasksMax": 2,
                        "config": {
                            "replication.factor": -1,
                            "offset-syncs.topic.replication.factor": -1,
                            "sync.topic.acls.enabled": "false",
                        },
                    },
                    "checkpointConnector": {"config": {"checkpoints.topic.replication.factor": -1}},
                    "topicsPattern": topic,
                    "groupsPattern": f"{flow.alias}-.*",
                }
            ],
        },
    }
    path = flow.folder / "mirror.yaml"
    path.write_text(yaml.safe_dump(resource))

    outcome = mirror_once(flow.spark, load(path))

    assert outcome.good, outcome
    flow.assert_mirrored(topic)
    assert f"{name}-offset" in topics_of(flow.target)
    (record,) = read_all(flow.target, f"{flow.alias}.checkpoints.internal")[0]
    checkpoint = read_checkpoint(record.key, record.value)
    assert isinstance(checkpoint, Checkpoint)
    assert (checkpoint.group, checkpoint.upstream, checkpoint.downstream) == (
        f"{flow.alias}-app",
        3,
        3,
    )
