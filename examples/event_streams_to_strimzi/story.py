"""D0, environment 4: Event Streams back to Strimzi, whose listener asks for a SCRAM user over TLS."""

from __future__ import annotations

import shutil

from examples.support.clusters import SCRAM_PASSWORD, SCRAM_USER
from examples.support.hosts import STRIMZI_ROUTE, event_streams
from examples.support.stage import Stage
from examples.support.story import Story


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    hosts = {
        STRIMZI_ROUTE: stage.target.bootstrap("SASL"),
        "<password of the KafkaUser's Secret>": SCRAM_PASSWORD,
    }
    stage.take_files("event_streams_to_strimzi", {**event_streams(stage.source), **hosts})
    stage.trust("es-to-strimzi-mm2.properties", "source.")
    stage.few_replicas("es-to-strimzi-mm2.properties")
    shutil.copy(stage.keys.truststore, stage.home / "truststore.jks")
    stage.source.grant("token", create=True)
    stage.target.grant(SCRAM_USER, create=True)
    for topic in ("products", "products-draft", "orders"):
        stage.source.create(topic)
        stage.source.produce(topic, [b"P01", b"P02"])

    with stage.mirror("es-to-strimzi-mm2.properties") as mirror:
        stage.same_records("products", "source.products", 2)
        protocol.step(
            "a topic is created while the mirror runs",
            "ibmcloud es topic-create -n products-eu -p 2",
        )
        stage.source.create("products-eu", 2)
        stage.source.produce("products-eu", [b"E01"], partition=1)
        stage.same_records("products-eu", "source.products-eu", 1)
        mirrored = {
            name for name in stage.target.topics() if name.startswith(("source.p", "source.o"))
        }
        expectation = "neither the excluded topic nor one that does not match"
        protocol.check(expectation, mirrored, {"source.products", "source.products-eu"})
        said = mirror.said()
        told = "topics.blacklist" in said and "topics.exclude" in said
        protocol.holds("the log names the new name of topics.blacklist", told, said[-500:])
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


STORY = Story(
    name="event_streams_to_strimzi",
    title="Story 4: Event Streams to Strimzi",
    tell=tell,
)
