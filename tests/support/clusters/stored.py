"""A flow's offsets in Connect's offsets topic, read and written with an independent client."""

from __future__ import annotations

from confluent_kafka import Producer

from support.clusters.reading import read_all
from support.flows.mirroring import Flow
from support.waiting import PATIENCE_SECONDS


def stored(flow: Flow) -> dict[bytes | None, bytes | None]:
    """The newest record of every key of the offsets topic."""
    found = read_all(flow.target, flow.offsets_topic)
    return {r.key: r.value for _, records in sorted(found.items()) for r in records}


def store(flow: Flow, key: bytes, value: bytes | None) -> None:
    """As a Connect worker writes it: Kafka's own partitioner."""
    producer = Producer(
        {"bootstrap.servers": flow.target.bootstrap_servers, "partitioner": "murmur2_random"}
    )
    producer.produce(flow.offsets_topic, key=key, value=value)
    assert producer.flush(PATIENCE_SECONDS) == 0


def key_of(flow: Flow, topic: str, partition: int = 0) -> bytes:
    text = f'["MirrorSourceConnector",{{"cluster":"{flow.alias}","partition":{partition},"topic":"{topic}"}}]'
    return text.encode()
