from __future__ import annotations

from heliograph.client.cluster import ClusterClient, Metadata
from heliograph.client.producer import Outgoing, Producer
from heliograph.model import ClusterConfig, TopicPartition

DATA, OFFSETS = TopicPartition("a.orders", 0), TopicPartition("mm2-offsets.a.internal", 7)


def batch(size: int) -> Outgoing:
    return Outgoing(memoryview(bytes(size)), 1, 0, 1)


def test_abandoning_data_leaves_offsets_that_were_queued_with_it() -> None:
    """Or an epoch that ends right after a flush would believe offsets stored that never were."""
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(leaders={DATA: 1, OFFSETS: 1})
    producer = Producer(
        cluster,
        ["a.orders", "mm2-offsets.a.internal"],
        on_ack=lambda partition, batch, offset: None,
        on_refused=lambda partition, error: None,
        on_retry=lambda partition, error: None,
    )
    producer.append(DATA, batch(100))
    producer.append(OFFSETS, batch(30))

    producer.abandon({DATA})

    assert producer.buffered_bytes == 30
    assert not producer.idle
