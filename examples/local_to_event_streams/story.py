"""D0, scenario 1: a local cluster to Event Streams, which lets no client create topics."""

from __future__ import annotations

import json
import sys

from examples.support.clusters import API_KEY
from examples.support.hosts import event_streams, local
from examples.support.stage import Stage
from examples.support.story import Story

COMPACT = {"cleanup.policy": "compact"}
#: The table of step 2: partitions and settings.
PRE_CREATED = {
    "mm2-configs.source.internal": (1, COMPACT),
    "mm2-offsets.source.internal": (25, COMPACT),
    "mm2-status.source.internal": (5, COMPACT),
    "source.products": (1, {}),
    "source.heartbeats": (1, {}),
    "source.checkpoints.internal": (1, COMPACT),
}


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files(
        "local_to_event_streams", {**local(stage.source), **event_streams(stage.target)}
    )
    stage.trust("local-cluster/template-mm2.properties", "target.")
    stage.trust("mm2-env.properties", "target.")
    stage.few_replicas("local-cluster/template-mm2.properties")
    stage.few_replicas("mm2-env.properties")
    stage.trust("eventstream.properties")
    stage.target.grant("token", create=False)
    pre_create(stage)
    create_products(stage)
    send(stage, "products.json", 5)

    with stage.mirror("mm2.properties", script="local-cluster/launchMM2.sh") as mirror:
        stage.same_records("products", "source.products", 5)
        show_on_target(stage)
        heartbeats_are_mirrored(stage)
        protocol.step("nothing of the mirror is left on the source as a group of consumers")
        protocol.check("no consumer group on the source", stage.source.groups(), {})
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())

    send(stage, "products2.json", 3)
    environment = environment_of(stage)
    with stage.mirror("mm2-env.properties", environment=environment) as mirror:
        stage.same_records("products", "source.products", 8)
        protocol.check("the six topics are as they were created", layout(stage), wanted())
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


def pre_create(stage: Stage) -> None:
    commands = []
    for topic, (partitions, config) in PRE_CREATED.items():
        settings = "".join(f" -c {name}={value}" for name, value in config.items())
        commands.append(f"ibmcloud es topic-create -n {topic} -p {partitions}{settings}")
        stage.target.create(topic, partitions, config=config)
    stage.protocol.step("create the topics on the target, where token may not", *commands)


def create_products(stage: Stage) -> None:
    command = "local-cluster/createProductsTopic.sh"
    stage.protocol.step("create the topic on the source", command)
    if stage.short:
        stage.source.create("products", replicas=stage.replicas)
    else:
        stage.protocol.seen([stage.shell(f"{stage.home}/{command}")])
    expectation = f"products has {stage.replicas} replicas"
    stage.protocol.check(expectation, stage.source.topics()["products"], (1, stage.replicas))


def send(stage: Stage, file: str, records: int) -> None:
    command = f"python SendProductToKafka.py ./data/{file}"
    stage.protocol.step("send products to the source", command)
    brokers = {"KAFKA_BROKERS": stage.source.bootstrap()}
    said = stage.shell(command.replace("python", sys.executable, 1), brokers).splitlines()
    stage.protocol.seen(said)
    delivered = "[KafkaProducer] - Message delivered to products [0]"
    stage.protocol.check("each one was delivered", said.count(delivered), records)


def environment_of(stage: Stage) -> dict[str, str]:
    """The file with ${…} needs no script: setenv.sh is enough."""
    names = ("KAFKA_SOURCE_BROKERS", "KAFKA_TARGET_BROKERS", "KAFKA_TARGET_APIKEY")
    said = stage.shell("source setenv.sh; env").splitlines()
    found = {
        name: value for name, _, value in (line.partition("=") for line in said) if name in names
    }
    stage.protocol.step("values for ${…} in the file", "source setenv.sh")
    stage.protocol.check("the key is in the environment", found["KAFKA_TARGET_APIKEY"], API_KEY)
    return found


def show_on_target(stage: Stage) -> None:
    said = stage.stock(
        f"kafka-console-consumer.sh --bootstrap-server {stage.target.bootstrap('SASL')} --consumer.config "
        "eventstream.properties --topic source.products --from-beginning --max-messages 5"
    )
    if said is not None:
        names = [
            json.loads(line)["product_id"] for line in said.splitlines() if line.startswith("{")
        ]
        stage.protocol.check("the five products", names, ["P01", "P02", "P03", "P04", "P05"])


def heartbeats_are_mirrored(stage: Stage) -> None:
    """The source's own heartbeats, of the pair target->source, which MM2 has by default."""
    stage.protocol.step("heartbeats of the source arrive on the target")
    stage.protocol.wait(
        "source.heartbeats has records",
        lambda: stage.target.count("source.heartbeats"),
        lambda found: found > 0,
    )


def layout(stage: Stage) -> dict[str, tuple[int, str]]:
    found = stage.target.topics()
    return {
        name: (found[name].partitions, stage.target.config(name).get("cleanup.policy", "delete"))
        for name in PRE_CREATED
    }


def wanted() -> dict[str, tuple[int, str]]:
    return {
        name: (partitions, config.get("cleanup.policy", "delete"))
        for name, (partitions, config) in PRE_CREATED.items()
    }


STORY = Story(
    name="local_to_event_streams",
    title="Story 1: local Kafka to Event Streams",
    tell=tell,
)
