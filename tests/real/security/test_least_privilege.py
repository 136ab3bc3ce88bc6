"""A mirror with exactly the rights that `docs/security.md` lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from guarded import SHARED, cluster_properties, password
from mirroring import Running, load_properties, running
from pair import commit, committed, topic_config
from reading import offsets, topics_of
from waiting import eventually
from writing import admin, create_topics, numbered, write

from heliograph.embedded import Cluster
from heliograph.pipeline.session import LocalSpark

PAGE = (Path(__file__).parents[3] / "docs" / "security.md").read_text()
#: Kind, name, operations; a name that ends in * is a prefix.
Grant = tuple[str, str, Sequence[str]]


def grants(heading: str, **names: str) -> list[Grant]:
    """The rows of a table of the page, with the aliases and names of a test."""
    table = PAGE.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    found = re.findall(r"^\| (Topic|Group|Cluster) \| `([^`]+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert found, heading
    return [
        (kind, name.format(**names), re.findall(r"`(\w+)`", operations))
        for kind, name, operations in found
    ]


def allow(at: Cluster, given: Sequence[Grant]) -> None:
    bindings = [
        AclBinding(
            ResourceType[{"Cluster": "BROKER"}.get(kind, kind.upper())],
            "kafka-cluster" if kind == "Cluster" else name.removesuffix("*"),
            ResourcePatternType.PREFIXED if name.endswith("*") else ResourcePatternType.LITERAL,
            "User:mirror",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        for kind, name, operations in given
        for operation in operations
    ]
    client = admin(at)
    for done in client.create_acls(bindings).values():
        done.result(30)


def without(given: Sequence[Grant], *operations: str) -> list[Grant]:
    return [(kind, name, [o for o in ops if o not in operations]) for kind, name, ops in given]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("pre_created", [False, True], ids=["creates", "pre-created"])
def test_the_rights_that_are_listed_are_enough(
    guarded: tuple[Cluster, Cluster], spark: LocalSpark, tmp_path: Path, pre_created: bool
) -> None:
    source, target = guarded
    a, b = ("lpa", "lpb") if pre_created else ("lca", "lcb")
    topic, group = f"{a}-orders", f"{a}-readers"
    create_topics(source, {topic: 2}, configs={"retention.bytes": "1073741824"})
    write(source, topic, numbered(range(10)))
    commit(source, group, topic, {0: 5})
    at_source = grants("On the source", A=a, B=b, topics=f"{a}-*", groups=f"{a}-*")
    at_target = grants("On the target", A=a, B=b, topics=f"{a}.{a}-*", groups=f"{a}-*")
    if pre_created:
        at_source, at_target = (
            without(given, "CREATE", "ALTER", "ALTER_CONFIGS") for given in (at_source, at_target)
        )
        create_topics(source, {f"mm2-offset-syncs.{b}.internal": 1})
        internal = [f"mm2-{name}.{a}.internal" for name in ("offsets", "configs", "status")]
        internal += [f"mm2-heliograph.{a}.internal", f"{a}.checkpoints.internal"]
        create_topics(target, dict.fromkeys(internal, 1), configs={"cleanup.policy": "compact"})
        create_topics(target, {f"{a}.{topic}": 2})
        if "heartbeats" not in topics_of(target):
            create_topics(target, {"heartbeats": 1})
    allow(source, at_source)
    allow(target, at_target)
    properties = SHARED | {
        "clusters": f"{a}, {b}",
        **cluster_properties(a, source, "SASL", password("PLAIN", user="mirror")),
        **cluster_properties(b, target, "SASL", password("PLAIN", user="mirror")),
        f"{a}->{b}.enabled": "true",
        f"{a}->{b}.topics": topic,
        f"{a}->{b}.groups": group,
        f"{a}->{b}.sync.group.offsets.enabled": "true",
        f"{a}->{b}.sync.topic.configs.enabled": str(not pre_created).lower(),
        f"{a}->{b}.emit.heartbeats.enabled": "true",
        **{
            f"{a}->{b}.{name}.interval.seconds": "1"
            for name in (
                *("emit.checkpoints", "emit.heartbeats", "refresh.groups"),
                *("sync.group.offsets", "sync.topic.configs"),
            )
        },
    }
    with running(spark, load_properties(tmp_path, properties)) as mirror:
        mirror.wait_for_records(10, within=60)
        remote = f"{a}.{topic}"
        eventually(
            lambda: committed(target, group, remote), lambda found: found == {0: 5}, within=60
        )
        eventually(lambda: offsets(target, "heartbeats")[1], lambda end: end > 0)
        if not pre_created:
            assert topic_config(target, remote)["retention.bytes"] == "1073741824"
        _no_problem(mirror)


def _no_problem(mirror: Running) -> None:
    eventually(mirror.problems, lambda found: found == [])
