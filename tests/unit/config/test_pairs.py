"""Which pairs of clusters run, and which of them mirror: `MirrorMakerConfig.clusterPairs`."""

from __future__ import annotations

from heliograph.config.mirror_config import Heartbeats, InternalTopic
from support.configurations.mm2_files import BASE, Reader


def of_clusters(*aliases: str) -> str:
    servers = "".join(f"{alias}.bootstrap.servers = {alias}:9092\n" for alias in aliases)
    return f"clusters = {', '.join(aliases)}\n{servers}"


def test_all_pairs_have_heartbeats_by_default(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testClusterPairsWithDefaultSettings"""
    mirror = mm2(of_clusters("a", "b", "c"))

    assert len(mirror.pairs) == 6
    assert mirror.flows == ()


def test_without_heartbeats_and_flows_there_is_no_pair(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testEmptyClusterPairsWithGloballyDisabledHeartbeats"""
    found = mm2.problems(of_clusters("a", "b", "c") + "emit.heartbeats.enabled = false\n")

    assert found == [
        "No source->target replication flows: none is enabled in mm2.properties; set one of: "
        "a->b.enabled = true, a->c.enabled = true, b->a.enabled = true, b->c.enabled = true, "
        "c->a.enabled = true, c->b.enabled = true"
    ]


def test_heartbeats_may_be_off_for_single_pairs(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testClusterPairsWithTwoDisabledHeartbeats"""
    mirror = mm2(
        of_clusters("a", "b", "c")
        + "a->b.emit.heartbeats.enabled = false\na->c.emit.heartbeats.enabled = false\n"
    )

    assert mirror.pairs == (("b", "a"), ("b", "c"), ("c", "a"), ("c", "b"))


def test_enabled_flows_run_without_heartbeats(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testClusterPairsWithGloballyDisabledHeartbeats"""
    mirror = mm2(
        of_clusters("a", "b", "c", "d", "e", "f")
        + "emit.heartbeats.enabled = false\na->b.enabled = true\na->c.enabled = true\n"
        "a->d.enabled = true\na->e.enabled = false\na->f.enabled = false\n"
    )

    assert mirror.pairs == (("a", "b"), ("a", "c"), ("a", "d"))
    assert mirror.heartbeats == ()


def test_a_pair_of_its_own_may_have_heartbeats_where_others_have_none(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testClusterPairsWithGloballyDisabledHeartbeatsCentralLocal"""
    mirror = mm2(
        of_clusters("central", "local_one", "local_two", "beats_emitter")
        + "emit.heartbeats.enabled = false\ncentral->local_one.enabled = true\n"
        "central->local_two.enabled = true\n"
        "beats_emitter->central.emit.heartbeats.enabled = true\n"
    )

    assert [flow.name for flow in mirror.flows] == ["central->local_one", "central->local_two"]
    assert [beats.source for beats in mirror.heartbeats] == ["beats_emitter"]
    assert len(mirror.pairs) == 3


def test_heartbeats_are_written_for_disabled_flows_too(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "us.offset.storage.partitions = 7\neu->us.emit.heartbeats.interval.seconds = 5\n"
    )

    assert [flow.name for flow in mirror.flows] == ["us->eu"]
    assert [(beats.source, beats.interval_seconds) for beats in mirror.heartbeats] == [
        ("us", 1),
        ("eu", 5),
    ]
    assert mirror.heartbeats[1] == Heartbeats(
        name="eu->us",
        source="eu",
        target="us",
        group_id="eu-mm2",
        connector_name="MirrorHeartbeatConnector",
        interval_seconds=5,
        topic=InternalTopic(name="heartbeats", partitions=1, replication_factor=3),
        offsets_topic=InternalTopic(
            name="mm2-offsets.eu.internal", partitions=7, replication_factor=3
        ),
        offsets_alias="us",
        config_topic=InternalTopic(
            name="mm2-configs.eu.internal", partitions=1, replication_factor=3
        ),
        status_topic=InternalTopic(
            name="mm2-status.eu.internal", partitions=5, replication_factor=3
        ),
    )  # fmt: skip
    assert mirror.heartbeats[0].config_topic is None  # its flow has it


def test_a_file_without_an_enabled_flow_writes_heartbeats_with_a_warning(
    mm2: Reader,
) -> None:
    mirror = mm2(BASE.replace("true", "false"))

    assert mirror.flows == ()
    assert len(mirror.heartbeats) == 2
    assert mirror.warnings == (
        "No records are mirrored, only heartbeats are written: no flow is enabled in mm2.properties; "
        "found us->eu.enabled = false (mm2.properties:4); "
        "set one of: us->eu.enabled = true, eu->us.enabled = true",
    )


def test_served_clusters_are_targets(mm2: Reader) -> None:
    mirror = mm2(BASE, ["us"])

    assert mirror.pairs == (("eu", "us"),)
    assert mirror.warnings == (
        "No records are mirrored, only heartbeats are written: no flow is enabled in mm2.properties "
        "to us; set one of: eu->us.enabled = true",
    )


def test_no_pair_towards_a_served_cluster_is_an_error(mm2: Reader) -> None:
    assert mm2.problems(BASE + "emit.heartbeats.enabled = false\n", ["us"]) == [
        "No source->target replication flows: none is enabled in mm2.properties to us; "
        "set one of: eu->us.enabled = true"
    ]
