"""What upstream's integration tests state of the data and of the topics around it (mm2.md, section 6)."""

from __future__ import annotations

from heliograph import MirrorClient
from support.clusters.reading import offsets, read_all, topics_of
from support.clusters.writing import create_topics, numbered, set_topic_config, write
from support.flows.pair import (
    PARTITIONS,
    Pair,
    assert_monotonic,
    commit,
    committed,
    consume,
    topic_config,
)
from support.waiting import eventually


def test_active_active_replication_with_failover_and_failback(pair: Pair) -> None:
    """I1 testReplication"""
    p, b = pair.primary_alias, pair.backup_alias
    topic, group = pair.create(), pair.group()
    create_topics(pair.backup, {topic: PARTITIONS})
    set_topic_config(pair.primary, topic, "cleanup.policy", "compact")
    pair.produce(topic)
    pair.produce(topic, cluster=pair.backup, first=100)
    consume(pair.primary, group, topic, 100)

    with pair.running({"emit.heartbeats.enabled": "true"}, both=True):
        pair.wait_for_copies(pair.remote(topic, p), 10)
        pair.wait_for_copies(pair.remote(topic, b), 10, on=pair.primary)
        _assert_internal_topics(pair)
        assert f"mm2-offset-syncs.{b}.internal" in topics_of(pair.primary)
        assert topic_config(pair.backup, pair.remote(topic))["cleanup.policy"] == "compact"
        _assert_heartbeats(pair)

        newest = pair.wait_for_checkpoints(group, pair.remote(topic), above=9)
        assert all(checkpoint.downstream == 10 for checkpoint in newest.values())
        with MirrorClient({"bootstrap.servers": pair.backup.bootstrap_servers}) as client:
            translated = client.translate_offsets(p, group)
        assert {tp.partition for tp in translated} == set(range(PARTITIONS))

        # failover: the group goes on there, on the mirrored topic and on the backup's own
        commit(
            pair.backup,
            group,
            pair.remote(topic),
            {p: t.offset for (_, p), t in translated.items()},
        )
        pair.produce(topic, first=10)
        assert len(consume(pair.backup, group, pair.remote(topic), 100)) == 100
        consume(pair.backup, group, topic, 100)
        # fail-back: what it has read of the backup's own topic is known on the primary
        back = pair.wait_for_checkpoints(group, pair.remote(topic, b), on=pair.primary, source=b)
        assert all(0 < checkpoint.downstream <= 10 for checkpoint in back.values())

        # a topic that comes later, with configurations of which one is excluded
        later = pair.create("test-topic-with-config", 1)
        set_topic_config(pair.primary, later, "delete.retention.ms", "1000")
        set_topic_config(pair.primary, later, "retention.bytes", "1000")
        write(pair.primary, later, numbered(range(5)))
        pair.wait_for_copies(pair.remote(later), 5)
        eventually(
            lambda: topic_config(pair.backup, pair.remote(later)),
            lambda found: found["retention.bytes"] == "1000",
        )
        assert topic_config(pair.backup, pair.remote(later))["delete.retention.ms"] != "1000"
    assert_monotonic(pair.checkpoints())
    assert_monotonic(pair.checkpoints(on=pair.primary, source=b))


def _assert_internal_topics(pair: Pair) -> None:
    for cluster, alias in ((pair.backup, pair.primary_alias), (pair.primary, pair.backup_alias)):
        wanted = {f"mm2-{kind}.{alias}.internal" for kind in ("status", "offsets", "configs")}
        assert wanted <= topics_of(cluster)


def _assert_heartbeats(pair: Pair) -> None:
    for cluster, alias in ((pair.backup, pair.primary_alias), (pair.primary, pair.backup_alias)):
        eventually(
            lambda cluster=cluster: topics_of(cluster),
            lambda found, alias=alias: {"heartbeats", f"{alias}.heartbeats"} <= found,
        )
        eventually(
            lambda cluster=cluster, alias=alias: offsets(cluster, f"{alias}.heartbeats")[1],
            lambda end: end > 0,
        )
        with MirrorClient({"bootstrap.servers": cluster.bootstrap_servers}) as client:
            assert alias in client.upstream_clusters()
            assert client.replication_hops(alias) == 1


def test_without_offset_syncs_data_flows_and_no_syncs_topic_is_made(pair: Pair) -> None:
    """I4 testReplicationWithoutOffsetSyncWillNotCreateOffsetSyncsTopic, D2"""
    topic = pair.create()
    pair.produce(topic)

    written = pair.properties({"emit.offset-syncs.enabled": "false"}, both=False)
    del written["offset-syncs.topic.replication.factor"]
    with pair.running_as_written(written):
        pair.wait_for_copies(pair.remote(topic), 10)

    assert f"mm2-offset-syncs.{pair.backup_alias}.internal" not in topics_of(pair.primary)
    assert not pair.checkpoints()


def test_offset_syncs_on_the_target(pair: Pair) -> None:
    """I5 testOffsetSyncsTopicsOnTarget"""
    topic, group = pair.create(), pair.group()
    pair.produce(topic)
    consume(pair.primary, group, topic, 100)

    with pair.running({"offset-syncs.topic.location": "target", "offset.translation": "syncs"}):
        pair.wait_for_copies(pair.remote(topic), 10)
        pair.wait_for_checkpoints(group, pair.remote(topic))

    assert f"mm2-offset-syncs.{pair.primary_alias}.internal" in topics_of(pair.backup)
    assert f"mm2-offset-syncs.{pair.backup_alias}.internal" not in topics_of(pair.primary)


def test_from_latest_only_what_comes_after_the_start_is_copied(pair: Pair) -> None:
    """I12 testReplicateFromLatest"""
    topic = pair.create()
    pair.produce(topic)

    settings = {f"{pair.primary_alias}.consumer.auto.offset.reset": "latest"}
    with pair.running(settings) as mirror:
        pair.wait_for_topic(pair.remote(topic))
        eventually(
            lambda: [r for r in mirror.progress.receipts() if r.topic == topic],
            lambda receipts: len(receipts) == PARTITIONS,
        )
        pair.produce(topic, first=50)
        pair.wait_for_copies(pair.remote(topic), 10)

    found = read_all(pair.backup, pair.remote(topic))
    assert [r.value for r in found[0]] == [b"value %d" % n for n in range(50, 60)]


def test_a_topic_created_after_the_start_is_mirrored(pair: Pair) -> None:
    """D1 testSingleNodeCluster"""
    with pair.running():
        topic = pair.create("later")
        pair.produce(topic)
        pair.wait_for_copies(pair.remote(topic), 10)


def test_an_alias_with_odd_characters_works_with_syncs_on_the_target(pair: Pair) -> None:
    """D3 testMultiNodeCluster: its alias; the topics that carry it are named by the other cluster's"""
    odd = "B-_~:?#[]@!$&'()*+=\"<>{}|^`618"
    properties = pair.properties(both=False)
    written = {key.replace(pair.backup_alias, odd): value for key, value in properties.items()}
    written["clusters"] = f"{pair.primary_alias}, {odd}"
    written["offset-syncs.topic.location"] = "target"
    topic, group = pair.create(), pair.group()
    pair.produce(topic)
    consume(pair.primary, group, topic, 100)

    with pair.running_as_written(written):
        pair.wait_for_copies(pair.remote(topic), 10)
        pair.wait_for_checkpoints(group, pair.remote(topic))


def test_with_identity_topics_keep_their_names_and_heartbeats_do_not(pair: Pair) -> None:
    """IdentityReplicationIntegrationTest: active/passive"""
    topic, group = pair.create(), pair.group()
    pair.produce(topic)
    consume(pair.primary, group, topic, 100)
    settings = {
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "emit.heartbeats.enabled": "true",
        "sync.group.offsets.enabled": "true",
    }

    with pair.running(settings):
        pair.wait_for_copies(topic, 10)
        pair.wait_for_group(pair.backup, group, topic, dict.fromkeys(range(PARTITIONS), 10))
        pair.wait_for_topic(f"{pair.primary_alias}.heartbeats")

    assert committed(pair.backup, group, topic) == dict.fromkeys(range(PARTITIONS), 10)
