from __future__ import annotations

from collections.abc import Mapping

from heliograph.inspection.worker_connectors import connectors_of
from heliograph.mm2.connect.cluster_state import ConfigState
from heliograph.mm2.connect.configs import ConnectorConfigRecord, TargetState, TargetStateRecord
from support.configurations.forms_files import CHECKPOINT, HEARTBEAT, SOURCE, worker


def state(**connectors: Mapping[str, str]) -> ConfigState:
    made = ConfigState()
    for name, config in connectors.items():
        made.apply(ConnectorConfigRecord(name, {**config, "name": name}))
    return made


def test_the_connectors_of_a_worker_are_the_flows_of_a_mirror() -> None:
    found = connectors_of(state(msc=SOURCE, cpc=CHECKPOINT, hbc=HEARTBEAT), worker())

    assert [flow.name for flow in found.mirror.flows] == ["msc"]
    assert [flow.name for flow in found.mirror.group_flows] == ["cpc"]
    assert [flow.offsets_topic.name for flow in found.mirror.flows] == ["connect-offsets"]
    assert (found.idle, found.mirror.problems) == ({}, ())


def test_connectors_that_do_not_run_are_named_with_the_reason() -> None:
    configs = state(
        msc=SOURCE, other={"connector.class": "x.FileSource"}, bad={**SOURCE, "tasks.max": "x"}
    )
    configs.apply(TargetStateRecord("msc", TargetState.PAUSED))

    found = connectors_of(configs, worker())

    assert found.idle == {
        "msc": "its state is PAUSED",
        "other": "x.FileSource: not one of MirrorMaker 2's connectors",
    }
    ((name, problems),) = found.mirror.problems
    assert name == "bad"
    assert problems[0].startswith("tasks.max: expected ")


def test_a_connector_made_through_rest_may_name_no_file_of_this_machine() -> None:
    spying = {**SOURCE, "source.cluster.ssl.truststore.location": "/etc/passwd"}
    spying |= {"source.cluster.security.protocol": "SSL"}

    ((name, problems),) = connectors_of(state(msc=spying), worker()).mirror.problems

    assert name == "msc"
    assert "rest.connector.allowed.paths" in problems[0]
