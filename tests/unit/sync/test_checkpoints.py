"""Problems before the first checkpoint. All else needs logs, and is in `tests/real/sync`."""

from __future__ import annotations

from typing import cast

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.sync.checkpoints import CheckpointSync
from heliograph.wire.error_codes import ErrorCode
from support.brokers.scripted import ScriptedCluster, reply


def checkpoint_sync(
    flow: FlowConfig, source: ScriptedCluster, target: ScriptedCluster
) -> CheckpointSync:
    return CheckpointSync(flow, cast(ClusterClient, source), cast(ClusterClient, target))


def test_nothing_is_read_or_written_before_the_checkpoints_topic_can_be_used(
    flow: FlowConfig,
) -> None:
    """MirrorCheckpointTaskTest.testCheckpointStoreInitialized"""
    refusal = reply(
        name="", error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, error_message="not for you"
    )
    source = ScriptedCluster({})
    target = ScriptedCluster({"CreateTopicsRequest": lambda _: reply(topics=[refusal])})
    checkpoints = checkpoint_sync(flow, source, target)

    for _ in range(2):
        emitted = checkpoints.emit(now_ms=1)

        assert emitted.checkpoints == 0
        assert "a.checkpoints.internal does not exist" in emitted.problems["a.checkpoints.internal"]
    assert source.asked == []
    assert checkpoints.checkpoints() == {}


def test_a_source_without_groups_is_asked_for_nothing_more(flow: FlowConfig) -> None:
    """MirrorCheckpointConnectorTest.testNoConsumerGroup"""
    source = ScriptedCluster({"ListGroupsRequest": lambda _: reply(error_code=0, groups=[])})

    found = checkpoint_sync(flow, source, ScriptedCluster({})).refresh_groups()

    assert (found.followed, found.passed_over, found.problems) == (frozenset(), {}, {})
    assert [request.name for _, request in source.asked] == ["ListGroupsRequest"]
