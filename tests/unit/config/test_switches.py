"""What the switches of MM2's three connectors leave of a flow."""

from __future__ import annotations

import pytest

from support.configurations.mm2_files import BASE, Reader

PARTS = """\
refresh.groups
sync.group.offsets
refresh.topics
sync.topic.configs
sync.topic.acls
"""


def test_checkpoints_run_where_they_are_not_switched_off(mm2: Reader) -> None:
    """MirrorCheckpointConnectorTest.testMirrorCheckpointConnectorDisabled, …Enabled"""
    assert mm2(BASE).flows[0].checkpoints is not None
    assert mm2(BASE + "emit.checkpoints.enabled = false\n").flows[0].checkpoints is None
    assert mm2(BASE + "us->eu.emit.checkpoints.enabled = false\n").flows[0].checkpoints is None


def test_a_flow_that_is_not_enabled_has_neither_copy_nor_checkpoints(mm2: Reader) -> None:
    """MirrorCheckpointConnectorTest.testReplicationDisabled, .testReplicationEnabled"""
    assert [flow.name for flow in mm2(BASE).flows] == ["us->eu"]
    assert mm2(BASE.replace("true", "false")).flows == ()


def test_heartbeats_are_switched_off_by_their_own_switch_only(mm2: Reader) -> None:
    """MirrorHeartBeatConnectorTest.testMirrorHeartbeatConnectorDisabled, .testReplicationDisabled"""
    disabled = mm2(BASE.replace("true", "false"))
    silent = mm2(BASE + "us->eu.emit.heartbeats.enabled = false\n")

    assert [beats.source for beats in disabled.heartbeats] == ["us", "eu"]
    assert [beats.source for beats in silent.heartbeats] == ["eu"]


@pytest.mark.parametrize("off", ["enabled = false", "interval.seconds = -1"])
def test_what_is_switched_off_or_has_an_interval_of_minus_one_is_never_done(
    mm2: Reader, off: str
) -> None:
    settings = "".join(f"{part}.{off}\n" for part in PARTS.split())
    (flow,) = mm2(BASE + settings).flows

    assert flow.refresh_interval_seconds is None
    assert flow.config_sync.interval_seconds is None
    assert flow.acl_sync_interval_seconds is None
    assert flow.checkpoints is not None
    assert flow.checkpoints.refresh_interval_seconds is None
    assert flow.checkpoints.sync_interval_seconds is None


def test_group_offsets_are_committed_where_that_is_switched_on(mm2: Reader) -> None:
    (flow,) = mm2(BASE + "us->eu.sync.group.offsets.enabled = true\n").flows

    assert flow.checkpoints is not None
    assert flow.checkpoints.sync_interval_seconds == 60
