"""Settings that are valid one by one but not together."""

from __future__ import annotations

import pytest

from support.configurations.mm2_files import BASE, Reader


def test_without_offset_syncs_their_topic_must_not_be_configured(mm2: Reader) -> None:
    """MirrorSourceConnector.validate, emit.offset-syncs.enabled"""
    found = mm2.problems(
        BASE + "us->eu.emit.offset-syncs.enabled = false\nemit.checkpoints.enabled = false\n"
        "offset-syncs.topic.replication.factor = 1\n"
    )

    assert found == [
        "offset-syncs.topic.replication.factor: MirrorSourceConnector can't setup offset-syncs "
        "feature while emit.offset-syncs.enabled set to false (mm2.properties:5); leave one of the "
        "two out (mm2.properties:7)"
    ]


def test_without_offset_syncs_there_are_no_checkpoints_and_a_warning(mm2: Reader) -> None:
    """DedicatedMirrorIntegrationTest.testClusterWithEmitOffsetDisabled"""
    mirror = mm2(
        BASE + "emit.offset-syncs.enabled = false\ncheckpoints.topic.replication.factor = 1\n"
    )

    (flow,) = mirror.flows
    assert (flow.offset_syncs, flow.checkpoints) == (None, None)
    assert mirror.warnings == (
        "us->eu: no checkpoints: emit.offset-syncs.enabled = false, and MirrorCheckpointConnector "
        "can't run without offset syncs; to silence this warning, set emit.checkpoints.enabled = false "
        "as well (mm2.properties:5)",
    )


@pytest.mark.parametrize("wish", ["emit.checkpoints.enabled", "sync.group.offsets.enabled"])
def test_checkpoints_wanted_without_offset_syncs_are_an_error(mm2: Reader, wish: str) -> None:
    """MirrorCheckpointConfigTest.testValidateIfConnectorEnabled"""
    found = mm2.problems(BASE + f"emit.offset-syncs.enabled = false\nus->eu.{wish} = true\n")

    assert found == [
        f"us->eu.{wish}: MirrorCheckpointConnector can't run without offset syncs; set "
        "emit.offset-syncs.enabled to true (mm2.properties:5), or this to false (mm2.properties:6)"
    ]


def test_group_offsets_wanted_without_checkpoints_are_an_error(mm2: Reader) -> None:
    """MirrorCheckpointConfigTest.testValidateIfConnectorEnabled"""
    found = mm2.problems(
        BASE + "emit.checkpoints.enabled = false\nsync.group.offsets.enabled = true\n"
    )

    assert found == [
        "sync.group.offsets.enabled: MirrorCheckpointConnector can't run with "
        "emit.checkpoints.enabled set to false; set emit.checkpoints.enabled to true "
        "(mm2.properties:5), or this to false (mm2.properties:6)"
    ]


def test_checkpoints_that_are_switched_off_need_no_remark(mm2: Reader) -> None:
    mirror = mm2(BASE + "emit.checkpoints.enabled = false\nemit.offset-syncs.enabled = false\n")

    assert mirror.flows[0].checkpoints is None
    assert mirror.warnings == ()


def test_a_disabled_flow_is_not_checked(mm2: Reader) -> None:
    """MirrorCheckpointConfigTest.testSkipValidationIfConnectorDisabled"""
    mirror = mm2(
        BASE + "eu->us.emit.checkpoints.enabled = true\neu->us.emit.offset-syncs.enabled = false\n"
    )

    assert [flow.name for flow in mirror.flows] == ["us->eu"]
