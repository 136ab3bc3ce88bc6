"""Host names and secrets of the documents, which the runner replaces by those of its own brokers."""

from __future__ import annotations

from examples.support.clusters import API_KEY
from examples.support.side import Side

LOCAL = "kafka1:9092,kafka2:9093,kafka3:9094"
EVENT_STREAMS = ",".join(
    f"broker-{number}-qnprtqnp7hnkssdz.kafka.svc01.us-east.eventstreams.cloud.ibm.com:9093"
    for number in (3, 1, 0, 5, 2, 4)
)
EVENT_STREAMS_SHORT = ",".join(
    f"broker-{number}-q.kafka.svc01.us-east.eventstreams.cloud.ibm.com:9093" for number in (3, 4)
)
STRIMZI_ROUTE = (
    "my-cluster-kafka-bootstrap-jb-kafka-strimzi.gse-eda-demos-fa9ee67c9ab6a7791435450358e564cc-0001"
    ".us-east.containers.appdomain.cloud:443"
)


def local(side: Side) -> dict[str, str]:
    return {LOCAL: side.bootstrap(), "kafka1:9092": side.bootstrap()}


def event_streams(side: Side) -> dict[str, str]:
    return {
        EVENT_STREAMS: side.bootstrap("SASL"),
        EVENT_STREAMS_SHORT: side.bootstrap("SASL"),
        "<password attribut in event streams credentials>": API_KEY,
        "password=....;": f'password="{API_KEY}";',
        'password="985..."': f'password="{API_KEY}"',
        'password="am_..."': f'password="{API_KEY}"',
        "<replace-with-event-streams-apikey>": API_KEY,
    }


def strimzi(side: Side) -> dict[str, str]:
    return {
        STRIMZI_ROUTE: side.bootstrap("TLS"),
        "my-cluster-kafka-bootstrap:9092": side.bootstrap(),
    }
