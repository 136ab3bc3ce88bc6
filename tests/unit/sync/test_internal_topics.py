"""Errors in the creation of an internal topic: the cases of `MirrorUtilsTest`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import InternalTopic
from heliograph.errors import BrokerError, UnsupportedBroker
from heliograph.plan.internal_topics import PlacedTopic
from heliograph.sync.internal_topics import ensure_internal_topic
from heliograph.wire.error_codes import ErrorCode
from support.brokers.scripted import ScriptedCluster, reply

TOPIC = InternalTopic(name="topic", partitions=1, replication_factor=3)
PLACED = PlacedTopic(topic=TOPIC, alias="b", option="some.topic.replication.factor")


class Target(ScriptedCluster):
    """Answers a creation with `code`; after it the topic is there if `appears`."""

    def __init__(self, code: int | Exception, *, appears: bool) -> None:
        super().__init__({"CreateTopicsRequest": self._create, "DescribeConfigsRequest": _configs})
        self._code = code
        self._appears = appears

    def _create(self, request: Any) -> Any:
        if self._appears:
            self.metadata = replace(self.metadata, partitions={TOPIC.name: 1})
        if isinstance(self._code, Exception):
            return self._code
        return reply(topics=[reply(name="topic", error_code=self._code, error_message="why")])


def _configs(_: Any) -> Any:
    return reply(
        results=[
            reply(
                error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                error_message="not yours",
                configs=[],
            )
        ]
    )


def ensure(target: ScriptedCluster) -> str | None:
    return ensure_internal_topic(cast(ClusterClient, target), PLACED)


def test_it_is_created_compacted() -> None:
    """MirrorUtilsTest.testCreateCompactedTopic"""
    target = Target(0, appears=True)

    assert ensure(target) is None

    (topic,) = target.asked[0][1].topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("topic", 1, 3)
    assert [(c.name, c.value) for c in topic.configs] == [("cleanup.policy", "compact")]


def test_another_may_have_created_it_meanwhile() -> None:
    """MirrorUtilsTest.testCreateCompactedTopicAlreadyExists"""
    assert ensure(Target(36, appears=True)) is None


@pytest.mark.parametrize("code", [29, 31, 35, 44])
def test_who_may_not_create_it_uses_one_that_is_there(code: int) -> None:
    """MirrorUtilsTest.testCreateCompactedTopicAssumeTopicAlreadyExistsWithClusterAuthorizationException,
    …WithUnsupportedVersionException; also topic authorization and policy violations."""
    assert ensure(Target(code, appears=True)) is None


@pytest.mark.parametrize("code", [29, 31, 35, 44])
def test_who_may_not_create_it_is_told_what_to_create(code: int) -> None:
    problem = ensure(Target(code, appears=False))

    assert problem is not None
    assert problem.startswith("scripted: topic does not exist and cannot be created")
    assert "1 partition and cleanup.policy=compact" in problem


def test_brokers_that_cannot_create_topics_are_told_of() -> None:
    problem = ensure(Target(UnsupportedBroker("CreateTopics: none"), appears=False))

    assert problem is not None
    assert "CreateTopics: none" in problem


def test_a_wrong_setting_is_a_problem() -> None:
    """MirrorUtilsTest.testCreateCompactedTopicFailsWithInvalidConfigurationException"""
    problem = ensure(Target(40, appears=False))

    assert problem is not None
    assert "topic 'topic' on scripted" in problem


def test_a_replication_factor_that_is_refused_names_its_option() -> None:
    problem = ensure(Target(38, appears=False))

    assert problem is not None
    assert f"set {PLACED.option} (now 3) to what its brokers allow" in problem
    assert problem.endswith("heliograph plan prints all such settings as lines to paste")


def test_a_cluster_that_takes_too_long_is_worth_another_try() -> None:
    """MirrorUtilsTest.testCreateCompactedTopicFailsWithTimeoutException"""
    with pytest.raises(BrokerError) as raised:
        ensure(Target(7, appears=False))

    assert raised.value.retriable
