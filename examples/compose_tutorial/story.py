"""D2: two brokers and a Connect worker of Docker Compose; a connector by POST, numbers that keep arriving."""

from __future__ import annotations

import json

import javaproperties
import yaml

from examples.support.stage import Rest, Stage
from examples.support.story import Story
from heliograph.config.resolve.environment import settings_in
from heliograph.embedded.ports import free_port

REMOTE = "source.to_replicate"
STORAGE = {"quickstart_config", "quickstart_offsets", "quickstart_status"}
RUNNING = ("RUNNING", ["RUNNING"])


def tell(stage: Stage) -> None:
    port = free_port()
    changes = {
        "broker2:29093": stage.target.bootstrap(),
        "broker:29092": stage.source.bootstrap(),
        "28082": str(port),
    }
    stage.take_files("compose_tutorial", changes)
    environment = variables(stage)
    with stage.worker(None, port, environment) as rest:
        topics(stage)
        create(stage, rest)
        numbers(stage, 0, 20)
        as_promised(stage)
        again_and_gone(stage, rest)
        stage.protocol.check("exit code of SIGTERM", rest.service.stop(), 0)
    with stage.worker(None, port, environment) as rest:
        stage.protocol.step("the worker is started again; nothing is posted")
        numbers(stage, 30, 10)
        other_names(stage, rest)
        stage.protocol.check("exit code of SIGTERM", rest.service.stop(), 0)


def variables(stage: Stage) -> dict[str, str]:
    """The worker is configured by its environment alone; quotes belong to the values."""
    compose = yaml.safe_load((stage.home / "docker-compose.yml").read_text())
    lines = compose["services"]["connect"]["environment"]
    found = dict(line.split("=", 1) for line in lines)
    stage.protocol.step(
        "docker-compose up -d",
        "docker exec connect cat /etc/kafka-connect/kafka-connect.properties",
    )
    settings = {name: each.value for name, each in settings_in(found).items()}
    file = javaproperties.loads((stage.home / "kafka-connect.properties").read_text())
    file.pop("plugin.path")  # of the image
    stage.protocol.check("13 variables are the settings of the file", settings, file)
    return found


def topics(stage: Stage) -> None:
    stage.protocol.step("the worker's topics are on the source")
    stage.protocol.wait(
        "quickstart_…", lambda: stage.source.topics().keys() & STORAGE, lambda f: f == STORAGE
    )
    found = [stage.source.topics()[name].partitions for name in sorted(STORAGE)]
    stage.protocol.check("config, offsets, status have Connect's partitions", found, [1, 25, 5])
    stage.protocol.check(
        "none of them on the target", stage.target.topics().keys() & STORAGE, set()
    )
    stage.protocol.step(
        "a topic", "kafka-topics --create --topic to_replicate --bootstrap-server broker:29092"
    )
    stage.source.create("to_replicate", replicas=1)


def create(stage: Stage, rest: Rest) -> None:
    body = (stage.home / "connectors.json").read_text()
    status, document = rest.create("POST", "/connectors", body, data="@connectors.json")
    stage.protocol.check(
        "created", (status, document["name"], document["type"]), (201, "test_mirror", "source")
    )
    stage.protocol.check("the connectors", rest.ask("GET", "/connectors")[1], ["test_mirror"])
    stage.protocol.wait(
        "RUNNING with one task", lambda: rest.state("test_mirror"), lambda s: s == RUNNING
    )


def numbers(stage: Stage, first: int, count: int) -> None:
    """The loop of the tutorial, without its pauses."""
    stage.protocol.step(
        "numbers, one by one", "echo $RANDOM | kafka-console-producer --topic to_replicate …"
    )
    for number in range(first, first + count, 5):
        stage.source.produce("to_replicate", [b"%d" % each for each in range(number, number + 5)])
    stage.same_records("to_replicate", REMOTE, first + count)


def as_promised(stage: Stage) -> None:
    stage.protocol.step("what is where")
    source = stage.source.topics()
    stage.protocol.check(
        "nothing named source.* on the source", [n for n in source if n.startswith("source")], []
    )
    syncs = source["mm2-offset-syncs.target.internal"]
    stage.protocol.check("offset syncs on the source: 1 partition, 1 replica", tuple(syncs), (1, 1))
    stage.protocol.check("no consumer group on the source", stage.source.groups(), {})
    said = stage.stock(
        f"kafka-console-consumer.sh --bootstrap-server {stage.target.bootstrap()} --topic {REMOTE} "
        "--from-beginning --max-messages 20"
    )
    if said is not None:
        found = [line for line in said.splitlines() if line.isdigit()]
        stage.protocol.check("the numbers in their order", found, [str(n) for n in range(20)])


def again_and_gone(stage: Stage, rest: Rest) -> None:
    body = (stage.home / "connectors.json").read_text()
    status, _ = rest.ask("POST", "/connectors", body, data="@connectors.json")
    stage.protocol.check("the same name again", status, 409)
    stage.protocol.check("deleted", rest.ask("DELETE", "/connectors/test_mirror")[0], 204)
    stage.protocol.wait("it is gone", lambda: rest.state("test_mirror"), lambda s: s[0] == "404")
    stage.source.produce("to_replicate", [b"%d" % number for number in range(20, 30)])
    status, _ = rest.create("POST", "/connectors", body, data="@connectors.json")
    stage.protocol.check("created again", status, 201)
    stage.same_records("to_replicate", REMOTE, 30)


def other_names(stage: Stage, rest: Rest) -> None:
    """Another separator; and records without producer.override, which stay on the worker's own cluster."""
    stage.protocol.step(
        "another separator; Kafka refuses names that differ by . and _ only, so the old ones go first",
        "kafka-topics --delete --topic source.to_replicate --bootstrap-server broker2:29093",
    )
    stage.protocol.check("deleted", rest.ask("DELETE", "/connectors/test_mirror")[0], 204)
    stage.protocol.wait("it is gone", lambda: rest.state("test_mirror"), lambda s: s[0] == "404")
    stage.target.delete(REMOTE)
    stage.source.delete("mm2-offset-syncs.target.internal")
    config = json.loads((stage.home / "connectors.json").read_text())["config"]
    config |= {"name": "underscore", "replication.policy.separator": "_", "replication.factor": "1"}
    rest.create("PUT", "/connectors/underscore/config", json.dumps(config), data="@underscore.json")
    stage.protocol.wait(
        "source_to_replicate on the target",
        lambda: stage.target.count("source_to_replicate"),
        lambda found: found == 40,
    )
    config |= {"name": "here", "source.cluster.alias": "here"}
    del config["producer.override.bootstrap.servers"]
    rest.create("PUT", "/connectors/here/config", json.dumps(config), data="@here.json")
    stage.protocol.wait(
        "without producer.override.bootstrap.servers records stay on the worker's cluster",
        lambda: stage.source.count("here_to_replicate"),
        lambda found: found == 40,
    )


STORY = Story(
    name="compose_tutorial",
    title="Story 7: the tutorial with Docker Compose and REST",
    tell=tell,
    one_broker=True,
)
