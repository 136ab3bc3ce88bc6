from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from heliograph.embedded import Cluster
from heliograph.errors import BrokerNotRunning, ConfigError
from support.waiting import PATIENCE_SECONDS


def create_topic(
    bootstrap_servers: str, topic: str, partitions: int = 1, replicas: int = 1
) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    new = NewTopic(topic, num_partitions=partitions, replication_factor=replicas)
    admin.create_topics([new])[topic].result(PATIENCE_SECONDS)


def produce(bootstrap_servers: str, topic: str, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(bootstrap_servers: str, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": f"readers of {topic}",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    try:
        return [message.value() for message in consumer.consume(count, timeout=PATIENCE_SECONDS)]
    finally:
        consumer.close()


def test_a_cluster_takes_records_and_gives_them_back(source_cluster: Cluster) -> None:
    create_topic(source_cluster.bootstrap_servers, "embedded.there-and-back")

    produce(source_cluster.bootstrap_servers, "embedded.there-and-back", [b"1", b"2"])

    found = consume(source_cluster.bootstrap_servers, "embedded.there-and-back", 2)
    assert found == [b"1", b"2"]


def test_source_and_target_are_different_clusters(
    source_cluster: Cluster, target_cluster: Cluster
) -> None:
    ids = [
        AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(
            timeout=PATIENCE_SECONDS
        )
        for cluster in (source_cluster, target_cluster)
    ]

    assert [each.cluster_id for each in ids] == [
        source_cluster.cluster_id,
        target_cluster.cluster_id,
    ]
    assert source_cluster.cluster_id != target_cluster.cluster_id


def test_three_nodes_form_one_cluster(three_brokers: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": three_brokers.bootstrap_servers})
    create_topic(three_brokers.bootstrap_servers, "embedded.three", replicas=3)

    # The broker that answers may not have heard of the topic yet; produce waits until it has.
    produce(three_brokers.bootstrap_servers, "embedded.three", [b"replicated"])
    metadata = admin.list_topics(timeout=PATIENCE_SECONDS)

    assert sorted(metadata.brokers) == [1, 2, 3]
    assert consume(three_brokers.bootstrap_servers, "embedded.three", 1) == [b"replicated"]


def test_a_topic_survives_the_loss_of_one_of_three_brokers(three_brokers: Cluster) -> None:
    create_topic(three_brokers.bootstrap_servers, "embedded.loss", partitions=3, replicas=3)
    produce(three_brokers.bootstrap_servers, "embedded.loss", [b"%d" % i for i in range(30)])

    three_brokers.stop_node(2)
    try:
        found = consume(three_brokers.bootstrap_servers, "embedded.loss", 30)
    finally:
        three_brokers.start_node(2)

    assert sorted(found) == sorted(b"%d" % i for i in range(30))
    assert sorted(three_brokers.pids) == [1, 2, 3]


@pytest.mark.parametrize("how", ["stop_node", "kill_node"])
def test_a_node_comes_back_with_its_data_and_port(how: str) -> None:
    # After a crash the controller keeps the old incarnation's place until its session ends.
    session = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
    with Cluster("comeback", settings=session) as cluster:
        before = cluster.bootstrap_servers
        create_topic(before, "kept")
        produce(before, "kept", [b"still here"])

        getattr(cluster, how)(1)
        assert cluster.pids == {}
        cluster.start_node(1)

        assert cluster.bootstrap_servers == before
        assert consume(before, "kept", 1) == [b"still here"]


def test_a_given_directory_outlives_the_cluster(tmp_path: Path) -> None:
    with Cluster("lasting", directory=tmp_path) as first:
        create_topic(first.bootstrap_servers, "kept")
        produce(first.bootstrap_servers, "kept", [b"from the first"])

    with Cluster("lasting", directory=tmp_path) as second:
        assert second.cluster_id == first.cluster_id
        assert consume(second.bootstrap_servers, "kept", 1) == [b"from the first"]


def test_a_temporary_folder_goes_with_the_cluster() -> None:
    with Cluster("fleeting") as cluster:
        folder = cluster.folder
        assert cluster.log_file(1).is_relative_to(folder)

    assert not folder.exists()


def test_a_bad_setting_is_reported_with_the_brokers_own_words() -> None:
    cluster = Cluster("wrong", settings={"num.io.threads": "none"})

    with pytest.raises(BrokerNotRunning, match=r"(?s)broker wrong-1: exited .*num\.io\.threads"):
        cluster.start()

    assert cluster.pids == {}


def test_a_heap_that_the_jvm_refuses_is_reported() -> None:
    with pytest.raises(BrokerNotRunning, match="Invalid maximum heap size"):
        Cluster("wrong", heap="many").start()


def test_settings_that_hold_the_cluster_together_cannot_be_given() -> None:
    with pytest.raises(ConfigError, match=r"cluster wrong: node\.id is set by Heliograph"):
        Cluster("wrong", settings={"node.id": "7"})
