"""Heartbeats on a real target."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from heliograph.config.mirror_config import Heartbeats
from heliograph.mm2.heartbeat import Heartbeat
from heliograph.sync.heartbeats import HeartbeatSync
from support.clusters.reading import read_all, topics_of
from support.flows.handmade import HandMade


def heartbeats(made: HandMade) -> Heartbeats:
    """On the shared target every flow would meet the topic by its own name."""
    config = made.flow.config({"emit.heartbeats.enabled": "true"})
    pair = next(h for h in config.heartbeats if h.source == made.alias)
    return replace(pair, topic=replace(pair.topic, name=f"{made.alias}-heartbeats"))


def test_a_heartbeat_is_one_record_with_its_time_and_connects_offset_is_written_once(
    made: HandMade,
) -> None:
    """MirrorHeartbeatTaskTest.testPollCreatesRecords"""
    config = heartbeats(made)
    sync = HeartbeatSync(config, made.target_client)

    assert sync.emit(1_700_000_000_000) == {}
    assert sync.emit(1_700_000_000_001) == {}

    (records,) = read_all(made.flow.target, config.topic.name).values()
    expected = [Heartbeat(made.alias, "b", 1_700_000_000_000 + n) for n in range(2)]
    assert [(r.key, r.value, r.timestamp) for r in records] == [
        (beat.key(), beat.value(), beat.timestamp) for beat in expected
    ]
    stored = read_all(made.flow.target, made.flow.offsets_topic)
    assert [(r.key, r.value) for records in stored.values() for r in records] == [
        (
            f'["MirrorHeartbeatConnector",{{"sourceClusterAlias":"{made.alias}",'
            f'"targetClusterAlias":"b"}}]'.encode(),
            b'{"offset":0}',
        )
    ]


def test_a_pair_without_a_flow_has_the_topics_of_mm2s_worker(
    made: HandMade, caplog: pytest.LogCaptureFixture
) -> None:
    """Guides list them on the source, where MM2 writes the heartbeats of the opposite direction."""
    prefix, alone = made.alias, heartbeats(made)
    topic = replace(alone.offsets_topic, name=f"{prefix}-configs", partitions=1)
    other = replace(topic, name=f"{prefix}-status", replication_factor=5)
    sync = HeartbeatSync(replace(alone, config_topic=topic, status_topic=other), made.target_client)

    with caplog.at_level(logging.INFO, "heliograph.sync.heartbeats"):
        assert sync.emit(1) == {}  # heartbeats do without the one that is refused

    assert {topic.name, other.name} & topics_of(made.flow.target) == {topic.name}
    assert "status.storage.replication.factor (now 5)" in caplog.text


def test_a_topic_that_cannot_be_made_is_a_problem_that_names_the_option(made: HandMade) -> None:
    config = heartbeats(made)
    config = replace(config, topic=replace(config.topic, replication_factor=5))

    problems = HeartbeatSync(config, made.target_client).emit(1)

    assert "heartbeats.topic.replication.factor (now 5)" in problems[config.topic.name]
