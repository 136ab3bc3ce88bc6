"""Runs the curl commands of two public guides against our worker: python -m conformance.scenarios [NAME].

The commands are those of the guides, except for ports. A side has one broker instead of three, so replication
factors are 1; SASL PLAIN replaces Amazon's IAM. NAME is `compose` or `migration`; both run without it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from conformance.errors import ConformanceError
from harness.cluster_side import QUIET, ClusterSide, LogEnds, running_clusters
from harness.mirrors import heliograph_command
from harness.processes import running_process
from heliograph.embedded import Cluster
from heliograph.embedded.listener import Listener, SecurityProtocol
from heliograph.embedded.ports import free_port
from heliograph.errors import HeliographError

_WORK = Path(__file__).parent / "work"
_SECONDS = 60.0
_MIRROR = "org.apache.kafka.connect.mirror."
_LOGIN = {"alice": "alice-secret"}
_PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="alice" password="alice-secret";'
)
_CLIENT = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "alice-secret",
}
Found = TypeVar("Found")


def main() -> int:
    wanted = sys.argv[1:]
    folder = _WORK / time.strftime("scenarios-%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    try:
        for title, scenario in _SCENARIOS.items():
            if wanted and title.split()[0] not in wanted:
                continue
            print(f"{title}: {folder / title.replace(' ', '-')}", flush=True)
            place = folder / title.replace(" ", "-")
            place.mkdir()
            scenario(place)
            print(f"{title}: passed", flush=True)
    except (ConformanceError, HeliographError) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


# ── a worker from environment variables, one connector by POST ─────────────────────────────────


def compose(folder: Path) -> None:
    """The worker's own cluster is the source; records go to the target by producer.override."""
    settings = {"auto.create.topics.enable": "true"}
    port = free_port()
    with _clusters(Listener(), settings) as (source, target):
        environment = _compose_environment(source, port)
        _create(source, "to_replicate", 1, {})
        (folder / "connectors.json").write_text(json.dumps(_compose_connector(source, target)))
        post = (
            "cat connectors.json | curl -s -w '%{http_code}' -X POST "
            f"-H 'Content-Type: application/json' localhost:{port}/connectors --data-binary @-"
        )
        with _serving(folder, port, environment):
            _created_by_post(folder, port, post, source, target)
        with _serving(folder, port, environment):
            _deleted_and_created_again(folder, port, post, source, target)


def _created_by_post(folder: Path, port: int, post: str, source: Cluster, target: Cluster) -> None:
    _write(source, "to_replicate", 10, {})
    made = _shell(folder, post)
    _must(made.endswith("201"), "POST answers 201", made)
    info = json.loads(made[:-3])
    _must(list(info) == ["name", "config", "tasks", "type"], "the connector", info)
    names = _shell(folder, f"curl -s localhost:{port}/connectors")
    _must(names == '["test_mirror"]', "its name is listed", names)
    _status(folder, port, "test_mirror", 1)
    _eventually("numbers arrive", lambda: _count(target, "source.to_replicate", {}), 10)
    topics = _topics(source, {})
    _must(not any(t.startswith("source.") for t in topics), "no copy at the source", topics)
    _must("mm2-offset-syncs.target.internal" in topics, "offset syncs", topics)
    again = _shell(folder, post)
    _must(again.endswith("409"), "the same again is 409", again)


def _deleted_and_created_again(
    folder: Path, port: int, post: str, source: Cluster, target: Cluster
) -> None:
    _status(folder, port, "test_mirror", 1)
    _write(source, "to_replicate", 5, {})
    _eventually("after a restart", lambda: _count(target, "source.to_replicate", {}), 15)
    gone = _shell(
        folder,
        f"curl -s -o /dev/null -w '%{{http_code}}' -X DELETE localhost:{port}/connectors/test_mirror",
    )
    _must(gone == "204", "DELETE answers 204", gone)
    back = _shell(folder, post)
    _must(back.endswith("201"), "POST answers 201 again", back)
    _status(folder, port, "test_mirror", 1)
    _write(source, "to_replicate", 5, {})
    _eventually("nothing twice", lambda: _count(target, "source.to_replicate", {}), 20)


def _compose_environment(source: Cluster, port: int) -> dict[str, str]:
    converter = "org.apache.kafka.connect.converters.ByteArrayConverter"
    return {
        "CONNECT_BOOTSTRAP_SERVERS": source.bootstrap_servers,
        "CONNECT_REST_PORT": str(port),
        "CONNECT_GROUP_ID": '"quickstart"',
        "CONNECT_CONFIG_STORAGE_TOPIC": "quickstart_config",
        "CONNECT_CONFIG_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_OFFSET_STORAGE_TOPIC": "quickstart_offsets",
        "CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_STATUS_STORAGE_TOPIC": "quickstart_status",
        "CONNECT_STATUS_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_KEY_CONVERTER": converter,
        "CONNECT_VALUE_CONVERTER": converter,
        "CONNECT_REST_ADVERTISED_HOST_NAME": '"localhost"',
        "CONNECT_CONNECTOR_CLIENT_CONFIG_OVERRIDE_POLICY": "All",
    }


def _compose_connector(source: Cluster, target: Cluster) -> dict[str, Any]:
    return {
        "name": "test_mirror",
        "config": {
            "connector.class": f"{_MIRROR}MirrorSourceConnector",
            "name": "test_mirror",
            "source.cluster.alias": "source",
            "topics": "to_replicate",
            "source.cluster.bootstrap.servers": source.bootstrap_servers,
            "target.cluster.bootstrap.servers": target.bootstrap_servers,
            "producer.override.bootstrap.servers": target.bootstrap_servers,
            "offset-syncs.topic.replication.factor": "1",
        },
    }


# ── three connectors by PUT ─────────────────────────────────────────────────────────────────────


def migration_lab(folder: Path) -> None:
    """The worker's own cluster is the target; connectors come from files, with a policy that keeps names."""
    listener = Listener(
        protocol=SecurityProtocol.SASL_PLAINTEXT, mechanisms=("PLAIN",), users=_LOGIN
    )
    port = free_port()
    with _clusters(listener, {}) as (source, target):
        _create(source, "ExampleTopic", 3, _CLIENT)
        _write(source, "ExampleTopic", 100, _CLIENT)
        _lab_files(folder, source, target)
        (folder / "connect-distributed.properties").write_text(_lab_worker(target, port))
        file = folder / "connect-distributed.properties"
        with _serving(folder, port, {}, file):
            server = json.loads(_shell(folder, f"curl -s -X GET http://localhost:{port}| jq ."))
            _must(list(server) == ["version", "commit", "kafka_cluster_id"], "GET /", server)
            herder = _shell(folder, "cat console.log|grep Herder")
            _must("Herder started" in herder, "its log names its herder", herder)
            before = _topics(target, _CLIENT)
            _must(all(t.startswith(("connect-", "__")) for t in before), "only connect-…", before)
            for name, tasks in (("mm2-msc", 3), ("mm2-cpc", None), ("mm2-hbc", 1)):
                put = (
                    "curl -s -o answer.json -w '%{http_code}' -X PUT -H \"Content-Type: application/json\" "
                    f"--data @{name}.json http://localhost:{port}/connectors/{name}/config"
                )
                first = _shell(folder, put)
                _must(first == "201", f"PUT of {name} answers 201", first)
                _status(folder, port, name, tasks)
                second = _shell(folder, put)
                _must(second == "200", f"PUT of {name} again answers 200", second)
            _eventually("records", lambda: _count(target, "ExampleTopic", _CLIENT), 100)
            wanted = {"ExampleTopic", "heartbeats", "msksource.checkpoints.internal"}
            _eventually("topics", lambda: wanted <= set(_topics(target, _CLIENT)), True)
            syncs = _topics(source, _CLIENT)
            _must("mm2-offset-syncs.mskdest.internal" in syncs, "offset syncs", syncs)


def _lab_worker(target: Cluster, port: int) -> str:
    """PLAIN in place of the four lines of IAM, and another port than 8083."""
    login = f"""
security.protocol=SASL_PLAINTEXT
sasl.mechanism = PLAIN
sasl.jaas.config = {_PLAIN}
"""
    producer = "".join(f"producer.{line}\n" for line in login.strip().splitlines())
    stores = "".join(
        f"{kind}.storage.topic=connect-{name}-sample-connect\n{kind}.storage.replication.factor=1\n"
        for kind, name in (("offset", "offsets"), ("config", "configs"), ("status", "status"))
    )
    return f"""bootstrap.servers={target.bootstrap_servers}
listeners=http://localhost:{port}
group.id=sample-connect-cluster
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
key.converter.schemas.enable=true
value.converter.schemas.enable=true
{stores}offset.flush.interval.ms=10000
connector.client.config.override.policy=All
{login}{producer}"""


def _lab_files(folder: Path, source: Cluster, target: Cluster) -> None:
    common = _lab_common(source, target)
    for name, settings in _LAB_CONNECTORS.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, **common, **settings}, indent=1))


def _lab_common(source: Cluster, target: Cluster) -> dict[str, str]:
    return {
        "clusters": "msksource,mskdest",
        "source.cluster.alias": "msksource",
        "target.cluster.alias": "mskdest",
        "target.cluster.bootstrap.servers": target.bootstrap_servers,
        "source.cluster.bootstrap.servers": source.bootstrap_servers,
        "key.converter": " org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "replication.factor": "1",
        **{
            f"{side}.cluster.{name}": value
            for side in ("source", "target")
            for name, value in (
                ("security.protocol", "SASL_PLAINTEXT"),
                ("sasl.mechanism", "PLAIN"),
                ("sasl.jaas.config", _PLAIN),
            )
        },
    }


_POLICY = {"replication.policy.class": "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy"}
_LAB_CONNECTORS = {
    "mm2-msc": {
        "connector.class": f"{_MIRROR}MirrorSourceConnector",
        "tasks.max": "4",
        "topics": r"^ExampleTopic[\w]*",
        **_POLICY,
        "offset-syncs.topic.replication.factor": "1",
        **{
            f"{what}.interval.seconds": "20"
            for what in (
                *("sync.topic.acls", "sync.topic.configs", "refresh.topics"),
                "refresh.groups",
            )
        },
        "consumer.group.id": "mm2-msc-cons",
        "producer.enable.idempotence": "true",
    },
    "mm2-cpc": {
        "connector.class": f"{_MIRROR}MirrorCheckpointConnector",
        "tasks.max": "1",
        **_POLICY,
        "checkpoints.topic.replication.factor": "1",
        "emit.checkpoints.interval.seconds": "20",
        "sync.group.offsets.enabled": "true",
    },
    "mm2-hbc": {
        "connector.class": f"{_MIRROR}MirrorHeartbeatConnector",
        "tasks.max": "1",
        "heartbeats.topic.replication.factor": "1",
        "emit.heartbeats.interval.seconds": "20",
    },
}


# ── in common ───────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _clusters(listener: Listener, settings: Mapping[str, str]) -> Iterator[tuple[Cluster, Cluster]]:
    clusters = [Cluster(name, listeners=(listener,), settings=settings) for name in ("a", "b")]
    with running_clusters(*clusters):
        yield clusters[0], clusters[1]


@contextmanager
def _serving(
    folder: Path, port: int, environment: Mapping[str, str], file: Path | None = None
) -> Iterator[None]:
    command = heliograph_command("serve", *([str(file)] if file else []))
    console = folder / "console.log"
    with running_process(command, console, {**os.environ, **environment}) as process:
        ask = f"curl -s -o /dev/null -w '%{{http_code}}' localhost:{port}/health"
        deadline = time.monotonic() + _SECONDS
        while _shell(folder, ask, check=False) != "200":
            if process.poll() is not None or time.monotonic() > deadline:
                raise ConformanceError(f"the worker does not answer; {console.read_text()[-2000:]}")
            time.sleep(0.3)
        yield


def _shell(folder: Path, line: str, *, check: bool = True) -> str:
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
    if check and done.returncode:
        raise ConformanceError(f"{line}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def _status(folder: Path, port: int, name: str, tasks: int | None) -> None:
    """Waits until it is RUNNING with that number of tasks; None for any number."""
    line = f"curl -s localhost:{port}/connectors/{name}/status | jq ."

    def running() -> bool:
        status: Any = json.loads(_shell(folder, line) or "{}")
        states = [
            each["state"] for each in (status.get("connector"), *status.get("tasks", ())) if each
        ]
        right = tasks is None or len(states) == tasks + 1
        return right and set(states) == {"RUNNING"}

    _eventually(f"{name} runs with {tasks} tasks", running, True)


def _create(cluster: Cluster, topic: str, partitions: int, login: Mapping[str, str]) -> None:
    _side(cluster, login).create_topics([NewTopic(topic, partitions, replication_factor=1)])


def _write(cluster: Cluster, topic: str, count: int, login: Mapping[str, str]) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUIET, **login})
    for number in range(count):
        producer.produce(topic, str(number).encode())
    if producer.flush(30):
        raise ConformanceError(f"{topic}: records were not acknowledged within 30 s")


def _topics(cluster: Cluster, login: Mapping[str, str]) -> list[str]:
    return sorted(_side(cluster, login).admin.list_topics(timeout=10).topics)


def _count(cluster: Cluster, topic: str, login: Mapping[str, str]) -> int:
    """Records of a topic; 0 if it does not exist."""
    return LogEnds(_side(cluster, login), topic).total()


def _side(cluster: Cluster, login: Mapping[str, str]) -> ClusterSide:
    return ClusterSide(lambda: cluster.bootstrap_servers, login)


def _must(condition: bool, what: str, found: object) -> None:
    if not condition:
        raise ConformanceError(f"expected: {what}; found {found!r}")
    print(f"  {what}", flush=True)


def _eventually(what: str, look: Callable[[], Found], wanted: Found) -> None:
    deadline = time.monotonic() + _SECONDS
    while (found := look()) != wanted:
        if time.monotonic() > deadline:
            raise ConformanceError(
                f"expected within {_SECONDS:.0f} s: {what}: {wanted!r}; found {found!r}"
            )
        time.sleep(0.5)
    print(f"  {what}", flush=True)


_SCENARIOS = {"compose": compose, "migration lab": migration_lab}

if __name__ == "__main__":
    sys.exit(main())
