"""D4: Kafka to Azure Event Hubs; secrets in a file of their own, `$ConnectionString` as the user."""

from __future__ import annotations

from examples.support.clusters import API_KEY, HUB_KEY, HUB_KEY_NAME, connection_string
from examples.support.stage import Stage
from examples.support.story import Story

CONFIG, ACCESS = "config/mm2-config.properties", "properties/access.properties"
CONTROL = {"mm2-configs", "mm2-offsets", "mm2-status"}


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files("event_hubs", {"/properties/": f"{stage.home}/properties/"})
    for side in ("source.", "target."):
        stage.trust(CONFIG, side)
    stage.few_replicas(CONFIG)
    stage.source.grant("token", create=True)
    for topic, partitions in (("topic1", 3), ("topic2", 1), ("topic3", 1)):
        stage.source.create(topic, partitions)
    stage.source.produce("topic1", [b"%d" % number for number in range(9)])
    stage.source.produce("topic2", [b"two"])

    said = stage.refused(CONFIG)
    told = "access.properties: no such file" in said and "SRC_BROKERS" in said
    protocol.holds("the missing file is named, with its key", told, said)
    access(stage, without="TGT_API_SECRET")
    protocol.holds(
        "the missing key is named", "TGT_API_SECRET" in (said := stage.refused(CONFIG)), said
    )
    access(stage)

    without_manage(stage)
    with_manage(stage)


def access(stage: Stage, without: str = "") -> None:
    """The template, filled in."""
    address = stage.target.bootstrap("HUB").split(",")[0]
    values = {
        "SRC_BROKERS": stage.source.bootstrap("SASL"),
        "SRC_API_KEY": "token",
        "SRC_API_SECRET": API_KEY,
        "TGT_BROKERS": address,
        "TGT_API_KEY": HUB_KEY_NAME,
        "TGT_API_SECRET": HUB_KEY,
    }
    template = (stage.home / "properties/template_access.properties").read_text()
    keys = [line.partition("=")[0] for line in template.splitlines()]
    stage.protocol.step("access data, from the template", "vi /properties/access.properties")
    stage.protocol.check("the template has these keys", keys, list(values))
    (stage.home / ACCESS).write_text(
        "".join(f"{key}={value}\n" for key, value in values.items() if key != without)
    )


def without_manage(stage: Stage) -> None:
    """A policy without the right Manage: data flow into hubs that exist, the others are named."""
    stage.protocol.step("the policy has Send and Listen; the hub source.topic2 exists")
    stage.target.grant("$ConnectionString", create=False)
    for name in (*CONTROL, "source.topic2"):
        stage.target.create(
            name, config={} if name == "source.topic2" else {"cleanup.policy": "compact"}
        )
    often = f"{CONFIG.removesuffix('.properties')}-often.properties"
    text = (stage.home / CONFIG).read_text()
    (stage.home / often).write_text(f"{text}refresh.topics.interval.seconds=2\n")  # by default 600
    with stage.mirror(often) as mirror:
        stage.same_records("topic2", "source.topic2", 1)
        stage.protocol.wait(
            "the log names source.topic1", mirror.said, lambda said: "source.topic1" in said
        )
        stage.protocol.check("it is not there", "source.topic1" in stage.target.topics(), False)
        stage.protocol.step(
            "the hub is created by hand; the mirror runs on", "az eventhubs eventhub create …"
        )
        stage.target.create("source.topic1", 3)
        stage.same_records("topic1", "source.topic1", 9)
        stage.protocol.check("exit code of SIGTERM", mirror.stop(), 0)


def with_manage(stage: Stage) -> None:
    stage.protocol.step("the policy gets Manage")
    stage.target.grant("$ConnectionString", create=True)
    with stage.mirror(CONFIG) as mirror:
        stage.protocol.wait("it copies", mirror.said, lambda said: "epoch 1: " in said)
        stage.same_records("topic1", "source.topic1", 9)
        found = stage.target.topics()
        stage.protocol.check("topic3 is not mirrored", "source.topic3" in found, False)
        stage.protocol.wait(
            "control topics have the names that the file gives them, on both sides",
            lambda: CONTROL - stage.source.topics().keys() | CONTROL - stage.target.topics().keys(),
            lambda left: not left,
        )
        stage.protocol.check(
            "no heartbeats on the target", "heartbeats" in stage.target.topics(), False
        )
        stage.protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        said = mirror.said()
        stage.no_secret_in(said)
        stage.protocol.holds(
            "unknown settings are warnings", "target.client_id" in said, said[:500]
        )
        password = connection_string(stage.target.bootstrap("HUB").split(",")[0])
        stage.protocol.check("nor the connection string", password in said, False)


STORY = Story(
    name="event_hubs",
    title="Story 9: Kafka to Event Hubs",
    tell=tell,
)
