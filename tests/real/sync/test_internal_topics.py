"""Internal topics on a real cluster: made as MM2 makes them, used as they are."""

from __future__ import annotations

import logging

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType

from heliograph.config.mirror_config import InternalTopic
from heliograph.plan.internal_topics import PlacedTopic
from heliograph.sync.internal_topics import ensure_internal_topic
from support.clusters.writing import admin, create_topics
from support.flows.handmade import HandMade
from support.waiting import PATIENCE_SECONDS

OPTION = "some.topic.replication.factor"


def topic(name: str, *, partitions: int = 1, replication_factor: int = 1) -> InternalTopic:
    return InternalTopic(name=name, partitions=partitions, replication_factor=replication_factor)


def ensure(made: HandMade, wanted: InternalTopic) -> str | None:
    placed = PlacedTopic(topic=wanted, alias=made.flow.alias, option=OPTION)
    return ensure_internal_topic(made.target_client, placed)


def setting(made: HandMade, name: str, key: str) -> str:
    resource = ConfigResource(ResourceType.TOPIC, name)
    client = admin(made.flow.target)
    return str(client.describe_configs([resource])[resource].result(PATIENCE_SECONDS)[key].value)


def test_a_missing_topic_is_made_compacted(made: HandMade) -> None:
    """MirrorUtilsTest.testCreateCompactedTopic"""
    wanted = topic(f"{made.alias}-made", partitions=3)

    assert ensure(made, wanted) is None
    assert ensure(made, wanted) is None

    assert setting(made, wanted.name, "cleanup.policy") == "compact"
    assert made.target_client.refresh([wanted.name]).partitions == {wanted.name: 3}


def test_a_topic_that_exists_is_used_as_it_is_with_one_warning(
    made: HandMade, caplog: pytest.LogCaptureFixture
) -> None:
    """MirrorUtilsTest.testCreateCompactedTopicAlreadyExists"""
    wanted = topic(f"{made.alias}-there")
    create_topics(made.flow.target, {wanted.name: 2})

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert ensure(made, wanted) is None

    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "only partition 0 is used" in caplog.text
    assert "cleanup.policy=delete, expected compact" in caplog.text
    assert setting(made, wanted.name, "cleanup.policy") == "delete"


def test_a_replication_factor_that_the_brokers_refuse_is_a_problem(made: HandMade) -> None:
    wanted = topic(f"{made.alias}-replicas", replication_factor=3)

    problem = ensure(made, wanted)

    assert problem is not None
    assert wanted.name in problem
    assert f"set {OPTION} (now 3)" in problem
