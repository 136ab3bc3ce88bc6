"""`heliograph plan` as a user starts it: says what a run would do, and does none of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from heliograph.embedded import Cluster
from support.clusters.grouping import client as open_client
from support.clusters.grouping import commit
from support.clusters.snapshot import snapshot
from support.clusters.writing import admin, create_topics, set_topic_config
from support.commands import heliograph, heliograph_here
from support.flows.handmade import OFFSETS_PARTITIONS, HandMade
from support.flows.mirroring import TARGET, Flow, new_alias
from support.waiting import PATIENCE_SECONDS

_AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def write_properties(folder: Path, properties: Mapping[str, str]) -> Path:
    path = folder / "mm2.properties"
    path.write_text("".join(f"{key} = {value}\n" for key, value in properties.items()))
    return path


@pytest.fixture
def guarded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HandMade]:
    """A cluster with ACLs that is source and target at once; its flow was mirrored up to offset 50."""
    alias = new_alias(request.node.originalname)
    with Cluster("guarded", settings=_AUTHORIZER) as cluster:
        flow = Flow(alias, cluster, cluster, None, tmp_path)  # type: ignore[arg-type]
        with open_client(cluster, alias) as source, open_client(cluster, TARGET) as target:
            made = HandMade(flow, source, target)
            made.write(60)
            made.copy(50)
            made.sync(50, 50)
            yield made


def allow_reading(cluster: Cluster, topic: str) -> None:
    binding = AclBinding(
        *(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL),
        *("User:reader", "*", AclOperation.READ, AclPermissionType.ALLOW),
    )
    client = admin(cluster)  # a client that is thrown away takes its requests with it
    for done in client.create_acls([binding]).values():
        done.result(PATIENCE_SECONDS)


def test_the_plan_shows_all_that_a_run_would_do_and_changes_nothing(guarded: HandMade) -> None:
    flow, cluster = guarded.flow, guarded.flow.source
    new = flow.create("new", 2, configs={"cleanup.policy": "compact"})
    grown = flow.create("grown", 4)
    create_topics(cluster, {flow.remote(grown): 2, "unrelated": 1})
    set_topic_config(cluster, guarded.topic, "retention.ms", "7777")
    set_topic_config(cluster, guarded.remote, "segment.ms", "8888")
    allow_reading(cluster, guarded.topic)
    commit(cluster, guarded.group(), {(guarded.topic, 0): 50})
    commit(cluster, "elsewhere", {(guarded.topic, 0): 7})
    settings = {
        "groups": f"{guarded.alias}.*",
        "sync_group_offsets_enabled": "true",
        "sync_topic_acls_enabled": "true",
        "nonsense": "1",
        "same_cluster_id_policy": "accept",  # both aliases are the one guarded cluster
    }
    path = write_properties(flow.folder, flow.properties(**settings))
    before = snapshot(cluster)

    as_text = heliograph("plan", path)
    as_json = heliograph("plan", path, "-o", "json")

    assert (as_text.returncode, as_json.returncode) == (0, 0), as_text.stderr + as_json.stderr
    assert snapshot(cluster) == before
    plan = json.loads(as_json.stdout)
    (planned,) = plan["flows"]
    assert_topics(planned, guarded, new, grown)
    assert_groups(planned["groups"], guarded)
    assert planned["acls"] == [
        {
            "topic": guarded.remote,
            "principal": "User:reader",
            "host": "*",
            "operation": "READ",
            "permission": "ALLOW",
        }
    ]
    assert (planned["problems"], planned["unknown"], plan["unreachable"]) == ({}, {}, {})
    for words in ("create 1 topic", "retention.ms", "7777", new, "not mirrored", "nonsense"):
        assert words in as_text.stdout


def assert_topics(planned: dict[str, Any], made: HandMade, new: str, grown: str) -> None:
    remote = made.flow.remote
    assert planned["topics"] == [
        {"topic": topic, "remote_topic": remote(topic), "partitions": partitions}
        for topic, partitions in sorted({made.topic: 2, new: 2, grown: 4}.items())
    ]
    assert planned["not_mirrored"]["unrelated"].startswith("topics does not match")
    assert planned["not_mirrored"]["__consumer_offsets"] == "an internal topic"
    (create,) = planned["create"]
    assert (create["topic"], create["partitions"], create["replication_factor"]) == (
        remote(new),
        2,
        1,
    )
    assert create["configs"] == {"cleanup.policy": "compact"}
    (grow,) = planned["grow"]
    assert (grow["topic"], grow["partitions_now"], grow["partitions"]) == (remote(grown), 2, 4)
    changes = {(c["topic"], c["name"]): (c["old"], c["new"]) for c in planned["configs"]}
    assert changes == {
        (made.remote, "retention.ms"): ("604800000", "7777"),
        (made.remote, "segment.ms"): ("8888", None),
    }
    internal = {each["topic"]: each["found"] for each in planned["internal_topics"]}
    assert internal == {
        made.flow.offsets_topic: OFFSETS_PARTITIONS,
        f"mm2-configs.{made.alias}.internal": None,
        f"mm2-status.{made.alias}.internal": None,
        f"mm2-heliograph.{made.alias}.internal": None,
        f"mm2-offset-syncs.{TARGET}.internal": 1,
        f"{made.alias}.checkpoints.internal": None,
    }


def assert_groups(groups: dict[str, Any], made: HandMade) -> None:
    assert groups["followed"] == [made.group()]
    assert groups["not_followed"]["elsewhere"].startswith("groups does not match")
    checkpoint = {
        "group": made.group(),
        "topic": made.remote,
        "partition": 0,
        "upstream": 50,
        "downstream": 50,
        "metadata": "",
    }
    assert groups["checkpoints"] == [checkpoint]
    assert groups["offsets"] == [
        {
            "group": made.group(),
            "partition": {"topic": made.remote, "partition": 0},
            "offset": {"offset": 50, "metadata": ""},
            "reason": "has no offset on the target yet",
        }
    ]


def test_circles_are_refused_in_every_flow_of_them(flow: Flow) -> None:
    topic = flow.create()
    back = f"{TARGET}->{flow.alias}"
    policy = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    properties = flow.properties() | {
        f"{back}.enabled": "true",
        f"{back}.topics": f"{flow.alias}-.*",
        "replication.policy.class": policy,
    }

    done = heliograph("plan", write_properties(flow.folder, properties), "-o", "json")

    assert done.returncode == 0, done.stderr
    for planned in json.loads(done.stdout)["flows"]:
        # Heartbeats of other tests on these clusters are mirrored whatever `topics` says.
        assert [t for t in planned["topics"] if not t["topic"].endswith("heartbeats")] == []
        if planned["name"] == flow.name:
            assert "go round in a cycle" in planned["problems"][topic]


def test_a_cluster_that_does_not_respond_leaves_the_rest_of_the_plan(flow: Flow) -> None:
    topic = flow.create()
    properties = flow.properties() | {
        "clusters": f"{flow.alias}, {TARGET}, nowhere",
        "nowhere.bootstrap.servers": "127.0.0.1:1",
        f"{flow.alias}->nowhere.enabled": "true",
        f"{flow.alias}->nowhere.topics": f"{flow.alias}-.*",
    }
    properties[f"{flow.name}.topics"] = f"{flow.alias}-.*,{topic}s"
    path = write_properties(flow.folder, properties | {"replication.factor": "7"})

    done = heliograph("plan", path, "-o", "json")
    narrowed = heliograph("plan", path, "--clusters", TARGET)

    assert (done.returncode, narrowed.returncode) == (1, 0), done.stderr + narrowed.stderr
    plan = json.loads(done.stdout)
    assert "127.0.0.1:1" in plan["unreachable"]["nowhere"]
    reached, missed = plan["flows"]
    assert [each["topic"] for each in reached["create"]] == [flow.remote(topic)]
    unmatched = reached["problems"][f"topics={topic}s"]
    assert unmatched.startswith(f"topics={topic}s matches no topic of cluster {flow.alias}; near: ")
    assert "replication.factor = 7;" in reached["problems"][f"replication factors on {TARGET}"]
    assert reached["factors"] == [
        {"cluster": TARGET, "option": "replication.factor", "factor": 7, "brokers": 1}
    ]
    pasted = narrowed.stdout.partition("replication factors to paste\n")[2].splitlines()
    assert pasted[0].strip() == "replication.factor = 1"
    assert [each["topic"] for each in missed["topics"]] == [topic]  # the source did answer
    assert "topics" in missed["unknown"]


def test_a_configuration_that_cannot_be_used_is_exit_code_two(tmp_path: Path) -> None:
    path = write_properties(tmp_path, {"clusters": "a"})

    assert heliograph_here("plan", path).returncode == 2
    assert heliograph_here("status", path).returncode == 2
    assert heliograph_here("plan", tmp_path / "none.properties").returncode == 2
