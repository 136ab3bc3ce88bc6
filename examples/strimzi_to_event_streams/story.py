"""D1, flow 2: Strimzi on OpenShift to Event Streams, by a properties file, and the commands that check it."""

from __future__ import annotations

import shutil

from examples.support.hosts import event_streams, strimzi
from examples.support.stage import Stage
from examples.support.story import Story

CREATED = {
    "mm2-configs.source.internal",
    "mm2-offsets.source.internal",
    "mm2-status.source.internal",
    "source.checkpoints.internal",
    "source.products",
    "heartbeats",
    "source.heartbeats",
}


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files(
        "strimzi_to_event_streams", {**strimzi(stage.source), **event_streams(stage.target)}
    )
    stage.trust("kafka-to-es-mm2.properties", "target.")
    stage.trust("eventstream.properties")
    stage.few_replicas("kafka-to-es-mm2.properties")
    stage.target.grant("token", create=True)
    truststore(stage)
    stage.source.create("products", config={"retention.ms": "123456", "min.insync.replicas": "1"})

    with stage.mirror("kafka-to-es-mm2.properties") as mirror:
        protocol.step("the producer starts after the mirror; its lines are no JSON")
        lines = (stage.home / "products.txt").read_bytes().splitlines()
        stage.source.produce("products", lines)
        stage.same_records("products", "source.products", len(lines))
        settings = stage.target.config("source.products")
        protocol.check("retention.ms is copied", settings.get("retention.ms"), "123456")
        protocol.check("min.insync.replicas is not", "min.insync.replicas" in settings, False)
        protocol.step("the topics that the mirror has created on the target")
        protocol.wait(
            "all are there", lambda: CREATED - stage.target.topics().keys(), lambda left: not left
        )
        client_files(stage)
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


def truststore(stage: Stage) -> None:
    """Made once for all stories, by the same command."""
    stage.protocol.step(
        "the truststore of the cluster's CA",
        "oc extract secret/my-cluster-cluster-ca-cert --keys=ca.crt --to=- > ca.crt",
        "keytool -import -trustcacerts -alias root -file ca.crt -keystore truststore.jks "
        "-storepass password -noprompt",
    )
    shutil.copy(stage.keys.ca, stage.home / "ca.crt")
    shutil.copy(stage.keys.truststore, stage.home / "truststore.jks")


def client_files(stage: Stage) -> None:
    """Steps 9 to 11: the client files with Kafka's own programs, while the mirror runs."""
    source, target = stage.source.bootstrap("TLS"), stage.target.bootstrap("SASL")
    listed = stage.stock(
        f"kafka-topics.sh --bootstrap-server {target} --command-config eventstream.properties --list"
    )
    if listed is None:
        return
    stage.protocol.check("source.products is listed", "source.products" in listed.split(), True)
    partitions = []
    for servers, file, topic in (
        (source, "strimzi.properties", "products"),
        (target, "eventstream.properties", "source.products"),
    ):
        described = stage.stock(
            f"kafka-topics.sh --bootstrap-server {servers} --command-config {file} --describe --topic {topic}"
        )
        partitions.append((described or "").count("Partition: "))
    stage.protocol.check("both have one partition", partitions, [1, 1])


STORY = Story(
    name="strimzi_to_event_streams",
    title="Story 3: Strimzi to Event Streams",
    tell=tell,
)
