"""D0, scenario 2: Strimzi's KafkaMirrorMaker2 resource, with the document's slips and without them."""

from __future__ import annotations

from base64 import b64encode

from examples.support.clusters import API_KEY
from examples.support.hosts import event_streams, strimzi
from examples.support.stage import Stage
from examples.support.story import Story

PRODUCTS = [b"{'product_id': 'P0%d', 'content_type': 1}" % number for number in range(1, 6)]
REMOTE = "kafka-on-premise-cluster-source.products"


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files(
        "on_premises_to_cloud", {**strimzi(stage.source), **event_streams(stage.target)}
    )
    stage.target.grant("token", create=True)
    stage.source.create("products")
    stage.source.produce("products", PRODUCTS)

    secrets(stage, "binding")
    said = stage.refused("kafka-to-es-mm2.yml", ["secrets.yaml"])
    told = "the Secret 'es-apikey-target' has no key 'password'; its keys are: binding" in said
    protocol.holds("the Secret's key is not the one that the resource names", told, said)

    secrets(stage, "password")
    with stage.mirror("kafka-to-es-mm2.yml", secrets=["secrets.yaml"]) as mirror:
        protocol.wait(
            "connectCluster is corrected, with a warning",
            mirror.said,
            lambda s: "connectCluster" in s,
        )
        protocol.holds(
            "the missing sourceConnector is named", "sourceConnector" in mirror.said(), ""
        )
        protocol.wait(
            "plain without tls: the target is not reached, and the log says so",
            mirror.said,
            lambda said: "cluster 'event-streams-wdc-as-target'" in said,
        )
        mirror.stop()

    corrected = "kafka-to-es-mm2-corrected.yml"
    with stage.mirror(corrected, secrets=["secrets.yaml"]) as mirror:
        stage.same_records("products", REMOTE, len(PRODUCTS))
        names = {"heartbeats", "kafka-on-premise-cluster-source.checkpoints.internal"}
        protocol.wait(
            "heartbeats and checkpoints have one replica, as the resource says",
            lambda: {n: each.replicas for n, each in stage.target.topics().items() if n in names},
            lambda found: found == dict.fromkeys(names, 1),
        )
        storage = {f"mirrormaker2-cluster-{kind}" for kind in ("configs", "offsets", "status")}
        missing = storage - stage.target.topics().keys()
        protocol.check("the worker's topics have Strimzi's names", missing, set())
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


def secrets(stage: Stage, key: str) -> None:
    """As `oc get secret … -o yaml` prints them."""
    ca = stage.keys.ca.read_text()
    stage.protocol.step(
        "the Secrets of the cluster",
        f"oc create secret generic es-apikey-target --from-literal={key}=<replace-with-event-streams-apikey>",
        "oc get secret es-apikey-target my-cluster-cluster-ca-cert … -o yaml > secrets.yaml",
    )
    found = {
        "es-apikey-target": (key, API_KEY),
        "my-cluster-cluster-ca-cert": ("ca.crt", ca),
        "event-streams-ca-cert": ("ca.crt", ca),
    }
    (stage.home / "secrets.yaml").write_text(
        "---\n".join(
            f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n"
            f"data:\n  {key}: {b64encode(value.encode()).decode()}\n"
            for name, (key, value) in found.items()
        )
    )


STORY = Story(
    name="on_premises_to_cloud",
    title="Story 5: on premises to cloud, with a KafkaMirrorMaker2 resource",
    tell=tell,
)
