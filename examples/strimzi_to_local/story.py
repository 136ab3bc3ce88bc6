"""D0, scenario 5, and D1, flow 3: Strimzi to a local cluster, over TLS with a truststore of keytool's."""

from __future__ import annotations

from examples.strimzi_to_event_streams.story import truststore
from examples.support.hosts import local, strimzi
from examples.support.stage import Stage
from examples.support.story import Story

LINES = ["order 1", "order 2", "order 3"]


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files("strimzi_to_local", {**strimzi(stage.source), **local(stage.target)})
    stage.few_replicas("strimzi-mm2.properties")
    wrong_password(stage)
    truststore(stage)
    stage.source.create("orders")

    with stage.mirror("strimzi-mm2.properties") as mirror:
        protocol.step("the producer starts last", "./produceToStrimzi.sh orders")
        if stage.short:
            stage.source.produce("orders", [line.encode() for line in LINES])
        else:
            (stage.home / "orders.txt").write_text("\n".join(LINES) + "\n")
            stage.shell("./produceToStrimzi.sh orders < orders.txt")
        stage.same_records("orders", "source.orders", len(LINES))
        said = stage.stock("../consumeFromLocal.sh source.orders --max-messages 3")
        if said is not None:
            protocol.check(
                "each line once", [each for each in said.splitlines() if "order" in each], LINES
            )
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)


def wrong_password(stage: Stage) -> None:
    """One clear error, and no data: in `plan`, which starts nothing."""
    truststore(stage)
    wrong = (stage.home / "strimzi-mm2.properties").read_text()
    (stage.home / "wrong.properties").write_text(
        wrong.replace("password=password", "password=guess")
    )
    if stage.short:
        return  # tests/real/security/test_mirrors.py has every kind of wrong store
    done = stage.heliograph("plan", "wrong.properties")
    told = "source.ssl.truststore.password is not its password" in done.stdout + done.stderr
    stage.protocol.holds("a wrong password of the truststore is named", told, done.stderr)
    stage.protocol.check("exit code", done.returncode, 1)


STORY = Story(
    name="strimzi_to_local",
    title="Story 10: Strimzi to local Kafka",
    tell=tell,
)
