"""D3: migration from one MSK cluster to another; three connectors by PUT, a custom policy, group offsets.

IAM exists in AWS only: the four security settings of each client are replaced by SCRAM over TLS. The login by
IAM itself is tested in tests/unit/client/security/sasl/test_msk_exchange.py.
"""

from __future__ import annotations

import json
import re
import urllib.request
from contextlib import ExitStack

from confluent_kafka import Consumer, TopicPartition

from examples.support.clusters import SCRAM_PASSWORD, SCRAM_USER
from examples.support.stage import Rest, Stage
from examples.support.story import Story
from heliograph.embedded.ports import free_port

TOPIC, GROUP, PARTITIONS = "ExampleTopic", "orders-app", 3
CONNECTORS = {
    "mm2-msc": ("mm2-msc-cust-repl-policy-iam-auth.json", PARTITIONS),
    "mm2-cpc": ("mm2-cpc-cust-repl-policy-iam-auth-sync.json", 1),
    "mm2-hbc": ("mm2-hbc-iam-auth.json", 1),
}
TEMPLATE = "connect-distributed-iam-auth.properties"
WORKER_FILE = "connect-distributed.properties"
_LOGIN = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    f'username="{SCRAM_USER}" password="{SCRAM_PASSWORD}";'
)


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files("msk_workshop", {'.seconds": "20"': '.seconds": "1"'} if stage.short else {})
    records = 300 if stage.short else 12_000
    swap_logins(stage)
    before(stage, records)
    first, second, metrics = free_port(), free_port(), free_port()
    with ExitStack() as stack:
        one = start_worker(stage, stack, first, metrics)
        other = one if stage.short else start_worker(stage, stack, second)
        worker_alone(stage, one)
        put_all(stage, one)
        migrated(stage, records)
        configuration_follows(stage)
        groups_follow(stage, records)
        if not stage.short:
            dashboard(stage, metrics)
            protocol.step("the first worker stops; the second one goes on")
            protocol.check("exit code of SIGTERM", one.service.stop(), 0)
        new_topic(stage, records)
        await_running(stage, other, "mm2-msc", PARTITIONS + 1)
        protocol.check("exit code of SIGTERM", other.service.stop(), 0)
        stage.no_secret_in(one.service.said(), other.service.said())
    failover(stage, records)


def swap_logins(stage: Stage) -> None:
    """IAM's four settings become SCRAM's; the certificates are of a private authority."""
    ca = stage.keys.ca.read_text()
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": ca}
    for file, _ in CONNECTORS.values():
        path = stage.home / file
        config = json.loads(path.read_text())
        for side in ("source.cluster.", "target.cluster."):
            del config[f"{side}sasl.client.callback.handler.class"]
            config |= {f"{side}sasl.mechanism": "SCRAM-SHA-512", f"{side}sasl.jaas.config": _LOGIN}
            config |= {f"{side}{name}": value for name, value in trust.items()}
        if stage.short and "mm2-cpc" in file:
            config["sync.group.offsets.interval.seconds"] = "1"
        path.write_text(json.dumps(config, indent=2))
    for file, prefixes in (
        (TEMPLATE, ("", "producer.")),
        ("client-config.properties", ("",)),
    ):
        path = stage.home / file
        lines = [line for line in path.read_text().splitlines() if "IAM" not in line]
        for prefix in prefixes:
            lines += [f"{prefix}sasl.mechanism=SCRAM-SHA-512", f"{prefix}sasl.jaas.config={_LOGIN}"]
            lines.append(f"{prefix}ssl.truststore.type=PEM")
            lines.append(f"{prefix}ssl.truststore.location={stage.keys.ca}")
        path.write_text("\n".join(lines) + "\n")
    for cluster in (stage.source, stage.target):
        cluster.grant(SCRAM_USER, create=True)


def before(stage: Stage, records: int) -> None:
    stage.protocol.step(
        "the source cluster, with a backlog, a consumer that has read half of it, and an ACL"
    )
    config = {"retention.ms": "604800000"}
    stage.source.create(TOPIC, PARTITIONS, config=config)
    stage.source.create("__amazon_msk_canary")
    stage.source.create("Other")
    stage.source.allow_read("app", TOPIC)
    each = records // PARTITIONS
    for partition in range(PARTITIONS):
        values = [b"%d-%d" % (partition, number) for number in range(each)]
        stage.source.produce(TOPIC, values, partition=partition)
    commit(stage, dict.fromkeys(range(PARTITIONS), each // 2))


def commit(stage: Stage, offsets: dict[int, int]) -> None:
    """As a consumer that reads the topic and stops there."""
    consumer = Consumer({**stage.source.client_settings(), "group.id": GROUP})
    consumer.commit(
        offsets=[TopicPartition(TOPIC, p, at) for p, at in offsets.items()], asynchronous=False
    )
    consumer.close()


def start_worker(stage: Stage, stack: ExitStack, port: int, metrics: int | None = None) -> Rest:
    """Two sed commands of the lab, then the systemd unit, which runs this command. `metrics`: the port of
    the page for Prometheus, 3600 in the lab."""
    servers = stage.target.bootstrap("SASL")
    commands = (
        f'sed -i -e "s/bootstrap.servers=/bootstrap.servers={servers}/g" {TEMPLATE}',
        f"cp {TEMPLATE} {WORKER_FILE}",
    )
    if not (stage.home / WORKER_FILE).exists():
        for command in commands:
            stage.shell(command)
    stage.protocol.step(
        "a worker at the destination", *commands, "sudo systemctl start kafka-connect.service"
    )
    listener = {"CONNECT_LISTENERS": f"http://127.0.0.1:{port}"}  # 8083 in the lab, on two machines
    if metrics is not None:
        listener["CONNECT_METRICS_LISTENER"] = f"http://127.0.0.1:{metrics}"
        listener["CONNECT_METRICS_NAMES"] = "msk"
    return stack.enter_context(stage.worker(WORKER_FILE, port, listener))


def worker_alone(stage: Stage, rest: Rest) -> None:
    stage.protocol.step("before any connector", "cat /tmp/kafka/kafka-connect.log | grep Herder")
    stage.protocol.wait("Herder started", rest.service.said, lambda said: "Herder started" in said)
    status, found = rest.ask("GET", "/")
    keys = {"version", "commit", "kafka_cluster_id"}
    stage.protocol.check("three fields", (status, set(found)), (200, keys))
    stage.protocol.check(
        "the cluster's id", found["kafka_cluster_id"], stage.target.cluster.cluster_id
    )
    storage = {f"connect-{kind}-sample-connect" for kind in ("configs", "offsets", "status")}
    stage.protocol.wait(
        "the destination has three topics that begin with connect-",
        lambda: {name for name in stage.target.topics() if not name.startswith("mm2-heliograph")},
        lambda found: found == storage,
    )


def put_all(stage: Stage, rest: Rest) -> None:
    sides = {"target": stage.target.bootstrap("SASL"), "source": stage.source.bootstrap("SASL")}
    for name, (file, tasks) in CONNECTORS.items():
        for side, servers in sides.items():
            key = f'"{side}.cluster.bootstrap.servers": "'
            stage.shell(f"sed -i -e 's/{key}\"/{key}{servers}\"/g' {file}")
        path, body = f"/connectors/{name}/config", (stage.home / file).read_text()
        stage.protocol.check("created", rest.create("PUT", path, body, data=f"@{file}")[0], 201)
        await_running(stage, rest, name, tasks)
        if name == "mm2-msc":
            stage.protocol.check(
                "the same once more", rest.ask("PUT", path, body, data=f"@{file}")[0], 200
            )


def await_running(stage: Stage, rest: Rest, name: str, tasks: int) -> None:
    wanted = ("RUNNING", ["RUNNING"] * tasks)
    expectation = f"{name} RUNNING with {tasks} tasks"
    stage.protocol.wait(expectation, lambda: rest.state(name), lambda state: state == wanted)


def migrated(stage: Stage, records: int) -> None:
    stage.same_records(TOPIC, TOPIC, records)
    names = {TOPIC, "heartbeats", "msksource.checkpoints.internal"}
    stage.protocol.wait(
        "exactly three new topics on the destination",
        lambda: {
            n for n in stage.target.topics() if not n.startswith(("connect-", "mm2-heliograph"))
        },
        lambda found: found == names,
    )
    gained = stage.source.topics().keys() - {TOPIC, "Other", "__amazon_msk_canary"}
    stage.protocol.check(
        "one new topic on the source", gained, {"mm2-offset-syncs.mskdest.internal"}
    )
    stage.protocol.check(
        "partitions and replicas", tuple(stage.target.topics()[TOPIC]), (PARTITIONS, stage.replicas)
    )
    listed = stage.stock(
        f"kafka-topics.sh --bootstrap-server={stage.target.bootstrap('SASL')} "
        "--command-config client-config.properties --list"
    )
    if listed is not None:
        stage.protocol.check("Kafka's program lists them, too", names <= set(listed.split()), True)


def configuration_follows(stage: Stage) -> None:
    stage.protocol.step(
        "settings and ACLs follow", "kafka-configs.sh --alter --add-config retention.ms=86400000 …"
    )
    stage.source.set_config(TOPIC, "retention.ms", "86400000")
    stage.protocol.wait(
        "retention.ms on the destination",
        lambda: stage.target.config(TOPIC).get("retention.ms"),
        lambda found: found == "86400000",
    )
    stage.protocol.wait(
        "User:app may read there", lambda: stage.target.readers(TOPIC), lambda f: "User:app" in f
    )


def groups_follow(stage: Stage, records: int) -> None:
    stage.protocol.step(f"the offsets of {GROUP} are committed on the destination")
    half = records // PARTITIONS // 2
    stage.protocol.wait(
        "at the same records",
        lambda: stage.target.committed(GROUP),
        lambda found: found == {(TOPIC, partition): half for partition in range(PARTITIONS)},
    )
    checkpoints = stage.target.count("msksource.checkpoints.internal")
    stage.protocol.holds("checkpoints are written", checkpoints > 0, checkpoints)


def dashboard(stage: Stage, port: int) -> None:
    """The series of the lab's dashboard, whose panel of lags falls to 0."""
    partitions = {str(number) for number in range(PARTITIONS)}
    stage.protocol.step("the page that Prometheus scrapes", f"curl -s localhost:{port}/metrics")
    stage.protocol.wait(
        "no lag in any partition",
        lambda: series(port, "kafka_consumer_fetch_manager_records_lag"),
        lambda found: found == dict.fromkeys(partitions, 0.0),
    )
    for name in ("replication_latency_ms_avg", "record_age_ms_avg"):
        found = series(port, f"kafka_connect_mirror_source_connector_{name}")
        stage.protocol.check(f"{name} of each partition", set(found), partitions)


def series(port: int, name: str) -> dict[str, float]:
    """The values of a metric by partition of the topic."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = [
            line for line in answer.read().decode().splitlines() if line.startswith(f"{name}{{")
        ]
    found = {}
    for line in lines:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        if labels["topic"] == TOPIC:
            found[labels["partition"]] = float(line.rpartition(" ")[2])
    return found


def new_topic(stage: Stage, records: int) -> None:
    stage.protocol.step("a topic that matches ^ExampleTopic[\\w]*, and one that does not")
    stage.source.create("ExampleTopic2")
    stage.source.produce("ExampleTopic2", [b"new"])
    stage.same_records("ExampleTopic2", "ExampleTopic2", 1)
    stage.source.produce(TOPIC, [b"late"], partition=0)
    stage.same_records(TOPIC, TOPIC, records + 1)
    stage.protocol.check("no other topic", "Other" in stage.target.topics(), False)


def failover(stage: Stage, records: int) -> None:
    """The consumer moves to the destination, without any option of its own."""
    stage.protocol.step(f"the consumer of {GROUP} starts on the destination")
    consumer = Consumer(
        {**stage.target.client_settings(), "group.id": GROUP, "auto.offset.reset": "error"}
    )
    consumer.subscribe([TOPIC])
    found: list[bytes] = []
    rest = records // 2 + 1

    def read() -> int:
        found.extend(each.value() for each in consumer.consume(2000, timeout=1) if not each.error())
        return len(found)

    try:
        stage.protocol.wait("it reads what it had not read", read, lambda count: count >= rest)
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    each = records // PARTITIONS
    missing = {b"%d-%d" % (p, n) for p in range(PARTITIONS) for n in range(each // 2, each)} | {
        b"late"
    }
    stage.protocol.check(
        "each one once, and none before", (set(found), len(found)), (missing, rest)
    )
    said = stage.stock(
        f"kafka-consumer-groups.sh --bootstrap-server {stage.target.bootstrap('SASL')} "
        f"--command-config client-config.properties --describe --group {GROUP}"
    )
    if said is not None:
        rows = [line.split() for line in said.splitlines() if line.startswith(GROUP)]
        stage.protocol.check("no lag is left", {row[5] for row in rows if row[1] == TOPIC}, {"0"})


STORY = Story(
    name="msk_workshop",
    title="Story 8: the MSK workshop",
    tell=tell,
)
