from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.formats import load as forms
from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.model import IsolationLevel, SyncsLocation, Translation
from support.configurations.strimzi_files import secret
from support.repository import ROOT

FOLDER = ROOT / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.properties") if path.name != "worker.properties")
ENVIRONMENT = {"MAIN_BROKERS": "main1:9092", "STANDBY_BROKERS": "standby1:9092"}


def example(name: str) -> MirrorConfig:
    (path,) = (path for path in EXAMPLES if path.name == name)
    return load(path, (), ENVIRONMENT)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_setting_of_an_example_has_its_effect(path: Path) -> None:
    mirror = load(path, (), ENVIRONMENT)

    assert mirror.flows
    beside = [warning for warning in mirror.warnings if "from the environment" not in warning]
    assert beside == []


def test_active_active_moves_groups_both_ways() -> None:
    there, back = example("active-active.properties").flows

    assert (there.name, back.name) == ("eu->us", "us->eu")
    for flow in (there, back):
        assert flow.checkpoints is not None
        assert flow.checkpoints.sync_interval_seconds == 10
        assert flow.checkpoints.translation is Translation.EXACT
        assert not flow.should_replicate(f"{flow.target}.orders", flow.topic_filter())
        assert flow.config_property_filter().should_replicate_config_property("retention.ms")
        assert not flow.config_property_filter().should_replicate_config_property(
            "min.insync.replicas"
        )


def test_disaster_recovery_keeps_names_and_writes_nothing_to_its_source() -> None:
    mirror = example("disaster-recovery.properties")
    (flow,) = mirror.flows

    assert flow.target_topic("orders") == "orders"
    assert flow.isolation_level is IsolationLevel.READ_COMMITTED
    assert flow.offset_syncs is not None
    assert flow.offset_syncs.location is SyncsLocation.TARGET
    assert [beats.target for beats in mirror.heartbeats] == ["standby"]


@pytest.mark.parametrize("worker", [None, FOLDER / "worker.properties"])
def test_the_connectors_mirror_follow_groups_and_beat(worker: Path | None) -> None:
    mirror = forms.load(FOLDER / "connectors", forms.LoadOptions(worker=worker), {})

    assert [flow.name for flow in mirror.flows] == ["mm2-msc"]
    assert [flow.name for flow in mirror.group_flows] == ["mm2-cpc"]
    assert [beats.name for beats in mirror.heartbeats] == ["mm2-hbc"]
    assert mirror.warnings == ()


def test_the_resource_runs_with_its_secrets(tmp_path: Path) -> None:
    (tmp_path / "secrets.yaml").write_text(
        "---\n".join(
            [
                secret("main-ca", ca_crt="PEM"),
                secret("main-user", user_crt="PEM", user_key="PEM"),
                secret("standby-ca", ca_crt="PEM"),
                secret("standby-user", password="x"),
            ]
        )
    )
    options = forms.LoadOptions(secrets=[tmp_path / "secrets.yaml"])
    mirror = forms.load(FOLDER / "kafka-mirror-maker-2.yaml", options, {})

    assert mirror.flows[0].name == "main->standby.MirrorSourceConnector"
    assert mirror.group_flows[0].checkpoints is not None
    assert mirror.warnings == ()
