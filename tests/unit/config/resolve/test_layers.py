"""Which of several settings holds; the upstream cases of `MirrorMakerConfig` and client configs."""

from __future__ import annotations

from heliograph.config.formats.properties import parse_properties
from heliograph.config.resolve.layers import Layers, Settings, client_settings


def layers(text: str) -> Layers:
    return Layers(parse_properties(text, "mm2.properties"))


def values(settings: Settings) -> dict[str, str]:
    return {name: setting.value for name, setting in settings.items()}


def connector(text: str, source: str = "a", target: str = "b") -> dict[str, str]:
    return values(layers(text).connector(source, target))


def client(text: str, side: str, kind: str) -> dict[str, str]:
    settings = {f"source1->target2.{line}\n" for line in text.splitlines()}
    flow = layers("".join(settings)).connector("source1", "target2")
    return values(client_settings(flow, side, kind))


def test_clusters_become_source_and_target_of_a_connector() -> None:
    """MirrorMakerConfigTest.testClusterConfigProperties"""
    found = connector(
        "clusters = a, b\na.bootstrap.servers = servers-one\nb.bootstrap.servers = servers-two\n"
        "security.protocol = SSL\nreplication.factor = 4\n"
    )

    assert found["source.cluster.bootstrap.servers"] == "servers-one"
    assert found["target.cluster.bootstrap.servers"] == "servers-two"
    assert found["security.protocol"] == "SSL"
    assert found["replication.factor"] == "4"


def test_settings_of_a_flow_reach_its_connectors() -> None:
    """MirrorMakerConfigTest.testReplicationConfigProperties"""
    assert connector("clusters = a, b\na->b.tasks.max = 123\n")["tasks.max"] == "123"


def test_clients_of_a_cluster_inherit_its_security_and_nothing_unknown() -> None:
    """MirrorMakerConfigTest.testClientConfigProperties"""
    found = values(
        layers(
            "clusters = a, b\nssl.key.password = secret2\nsecurity.protocol = SSL\n"
            "a.security.protocol = PLAINTEXT\na.producer.security.protocol = SSL\n"
            "a.bootstrap.servers = 127.0.0.1:9092, 127.0.0.2:9092\nmetrics.reporter = x\nxxx = zzz\n"
        ).cluster("a")
    )

    assert found["admin.bootstrap.servers"] == "127.0.0.1:9092, 127.0.0.2:9092"
    assert found["admin.security.protocol"] == "PLAINTEXT"
    assert found["producer.security.protocol"] == "SSL"
    assert found["admin.ssl.key.password"] == "secret2"
    assert not {"xxx", "admin.xxx", "metrics.reporter", "admin.metrics.reporter"} & found.keys()


def test_connectors_get_the_top_level_settings_that_they_define_and_no_others() -> None:
    """MirrorMakerConfigTest.testIncludesConnectorConfigProperties, .testAllConfigNames"""
    given = {
        "tasks.max": "100",
        "topics": "topic-1",
        "groups": "group-2",
        "replication.policy.separator": "__",
        "config.properties.exclude": "property-3",
        "metric.reporters": "FakeMetricsReporter",
        "topic.filter.class": "DefaultTopicFilter",
        "emit.heartbeats.enabled": "true",
    }
    lines = "".join(f"{name} = {value}\n" for name, value in given.items())

    found = connector(f"clusters = a, b\n{lines}xxx = yyy\nuse.defaults.from = source\n")

    assert found == given


def test_topic_filters_get_the_flows_topics() -> None:
    """MirrorMakerConfigTest.testIncludesTopicFilterProperties"""
    found = connector(
        "clusters = a, b\nsource->target.topics = topic1, topic2\n"
        "source->target.topics.exclude = topic3\n",
        "source",
        "target",
    )

    assert found == {"topics": "topic1, topic2", "topics.exclude": "topic3"}


def test_workers_belong_to_the_target() -> None:
    """MirrorMakerConfigTest.testWorkerConfigs"""
    file = layers(
        "clusters = a, b\nreplication.policy.separator = __\n"
        "offset.storage.replication.factor = 123\nb.status.storage.replication.factor = 456\n"
        "b.producer.client.id = client-one\nb.security.protocol = PLAINTEXT\n"
        "b.producer.security.protocol = SASL\nssl.truststore.password = secret1\n"
    )

    a, b = values(file.worker("a")), values(file.worker("b"))
    assert a["offset.storage.replication.factor"] == "123"
    assert a["replication.policy.separator"] == "__"
    assert "status.storage.replication.factor" not in a
    assert b["status.storage.replication.factor"] == "456"
    assert b["producer.client.id"] == "client-one"
    assert b["producer.security.protocol"] == "SASL"
    assert b["consumer.security.protocol"] == "PLAINTEXT"
    assert b["ssl.truststore.password"] == "secret1"
    assert b["producer.ssl.truststore.password"] == "secret1"


def test_consumers_of_a_connector() -> None:
    """MirrorConnectorConfigTest.testSourceConsumerConfig"""
    found = client(
        "consumer.max.poll.interval.ms = 120000\nsource.cluster.bootstrap.servers = localhost:2345",
        "source",
        "consumer",
    )

    assert found == {"max.poll.interval.ms": "120000", "bootstrap.servers": "localhost:2345"}


def test_consumers_of_a_connector_with_source_prefix() -> None:
    """MirrorConnectorConfigTest.testSourceConsumerConfigWithSourcePrefix,
    MirrorCheckpointConfigTest.testConsumerConfigsForOffsetSyncsTopic"""
    text = (
        "source.consumer.auto.offset.reset = latest\nconsumer.auto.offset.reset = none\n"
        "consumer.max.poll.interval.ms = 100\nfetch.min.bytes = 1\n"
        "target.consumer.heartbeat.interval.ms = 1"
    )

    assert client(text, "source", "consumer") == {
        "auto.offset.reset": "latest",
        "max.poll.interval.ms": "100",
    }
    assert client(text, "target", "consumer") == {
        "auto.offset.reset": "none",
        "max.poll.interval.ms": "100",
        "heartbeat.interval.ms": "1",
    }


def test_producers_of_a_connector() -> None:
    """MirrorConnectorConfigTest.testSourceProducerConfig, …WithSourcePrefix,
    MirrorSourceConfigTest.testProducerConfigsForOffsetSyncsTopic"""
    assert client("producer.acks = 1", "source", "producer") == {"acks": "1"}
    assert client("source.producer.acks = 1", "source", "producer") == {"acks": "1"}
    assert client("source.producer.acks = 1", "target", "producer") == {}
    assert client("target.producer.acks = 1\nproducer.acks = 0", "target", "producer") == {
        "acks": "1"
    }


def test_admins_of_a_connector() -> None:
    """MirrorConnectorConfigTest.testSourceAdminConfig, .testTargetAdminConfig, …WithSourcePrefix,
    MirrorSourceConfigTest.testAdminConfigsForOffsetSyncsTopic"""
    idle = {"connections.max.idle.ms": "10000"}
    for side in ("source", "target"):
        assert client("admin.connections.max.idle.ms = 10000", side, "admin") == idle
        assert client(f"{side}.admin.connections.max.idle.ms = 10000", side, "admin") == idle
        assert client(f"{side}.cluster.xxx = 1\nretries = 123", side, "admin") == {}
