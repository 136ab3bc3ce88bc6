"""D0, scenario 3: Event Streams to a local cluster; the producer adds headers."""

from __future__ import annotations

import os
import signal

from examples.support.hosts import event_streams, local
from examples.support.services import Service
from examples.support.stage import Stage
from examples.support.story import Story

LATER = [b'{"order": %d}' % number for number in range(5, 10)]
ORDERS = [b'{"order": %d}' % number for number in range(5)]
#: A key twice, a value of no bytes and one that is null.
HEADERS = [("trace", b"1"), ("trace", b"2"), ("empty", b""), ("null", None)]
#: MM2's defaults, on the target: partitions, and replicas that MM2 asks for.
INTERNAL = {
    "mm2-configs.source.internal": (1, 3),
    "mm2-offsets.source.internal": (25, 3),
    "mm2-status.source.internal": (5, 3),
    "source.checkpoints.internal": (1, 3),
    "heartbeats": (1, 3),
    "source.orders": (1, 2),
}


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files(
        "event_streams_to_local", {**local(stage.target), **event_streams(stage.source)}
    )
    stage.trust("mirror-maker.properties", "source.")
    stage.few_replicas("mirror-maker.properties")
    stage.source.grant("token", create=True)

    protocol.step("orders with headers are in Event Streams")
    stage.source.create("orders")
    stage.source.produce("orders", ORDERS, headers=HEADERS)

    with stage.mirror("mirror-maker.properties") as mirror:
        stage.same_records("orders", "source.orders", len(ORDERS))
        headers = {each.headers for each in stage.target.records("source.orders")}
        protocol.check("headers arrive as they were sent", headers, {tuple(HEADERS)})
        protocol.step("the topics that MirrorMaker 2 creates on the target")
        protocol.wait(
            "the internal topics have MM2's partitions and replicas",
            lambda: {name: tuple(each) for name, each in stage.target.topics().items()},
            lambda found: wanted(stage).items() <= found.items(),
        )
        policies = {name: stage.target.config(name).get("cleanup.policy") for name in INTERNAL}
        compacted = {name for name, policy in policies.items() if policy == "compact"}
        protocol.check(
            "all but the records' topic are compacted",
            compacted,
            INTERNAL.keys() - {"source.orders"},
        )
        target_that_hangs(stage, mirror)
        said = stage.stock("../consumeFromLocal.sh source.orders --max-messages 5")
        if said is not None:
            values = [line for line in said.splitlines() if line.startswith("{")]
            protocol.check("the five orders", values, [value.decode() for value in ORDERS])
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


def target_that_hangs(stage: Stage, mirror: Service) -> None:
    """D0-E4 and E5: acknowledgements that do not come; MM2 logs "Failed to flush" and "Failed to commit"."""
    stage.protocol.step(
        "the brokers of the target hang while orders are written", "kill -STOP …; kill -CONT …"
    )
    brokers = stage.target.cluster.pids.values()
    told = len(mirror.said())
    for broker in brokers:
        os.kill(broker, signal.SIGSTOP)
    try:
        stage.source.produce("orders", LATER, headers=HEADERS)
        stage.protocol.wait(
            "the log says that the target does not answer",
            lambda: mirror.said()[told:],
            lambda said: "cluster 'target'" in said,
        )
    finally:
        for broker in brokers:
            os.kill(broker, signal.SIGCONT)
    stage.same_records("orders", "source.orders", len(ORDERS + LATER))


def wanted(stage: Stage) -> dict[str, tuple[int, int]]:
    return {name: (count, min(stage.replicas, most)) for name, (count, most) in INTERNAL.items()}


STORY = Story(
    name="event_streams_to_local",
    title="Story 2: Event Streams to local Kafka",
    tell=tell,
)
