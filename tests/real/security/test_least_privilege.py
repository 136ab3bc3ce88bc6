"""Flows with exactly the rights that `docs/security.md` lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from heliograph.embedded import Cluster
from heliograph.inspection.check.check import check_mirror
from heliograph.inspection.check.parties import parties_of
from heliograph.inspection.check.report import Outcome
from heliograph.spark.session import LocalSpark
from support.clusters.grouping import commit, committed
from support.clusters.guarded import SHARED, cluster_properties, password
from support.clusters.reading import offsets, read_all
from support.clusters.writing import admin, create_topics, numbered, topic_config, write
from support.flows.mirroring import Running, load_properties, running
from support.repository import ROOT
from support.waiting import PATIENCE_SECONDS, eventually

PAGE = (ROOT / "docs" / "security.md").read_text()
_KINDS = {
    "Topic": ResourceType.TOPIC,
    "Group": ResourceType.GROUP,
    "TransactionalId": ResourceType.TRANSACTIONAL_ID,
    "Cluster": ResourceType.BROKER,
}


class Grant(NamedTuple):
    """A row of the page; a name that ends in * is a prefix."""

    kind: str
    name: str
    operations: list[str]

    def bindings(self, user: str) -> list[AclBinding]:
        prefixed = self.name.endswith("*")
        return [
            AclBinding(
                _KINDS[self.kind],
                "kafka-cluster" if self.kind == "Cluster" else self.name.removesuffix("*"),
                ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL,
                f"User:{user}",
                "*",
                AclOperation[operation],
                AclPermissionType.ALLOW,
            )
            for operation in self.operations
        ]


def grants(heading: str, **names: str) -> list[Grant]:
    """The rows of a table, with the aliases and names of a test."""
    table = PAGE.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    found = re.findall(r"^\| (\w+) \| `([^`]+)` \| (`[^|]+`) \|", table, re.MULTILINE)
    assert found, heading
    return [
        Grant(kind, name.format(**names), re.findall(r"`(\w+)`", operations))
        for kind, name, operations in found
    ]


def without(given: Sequence[Grant], *operations: str) -> list[Grant]:
    return [
        each._replace(operations=[o for o in each.operations if o not in operations])
        for each in given
    ]


def allow(at: Cluster, bindings: Sequence[AclBinding]) -> None:
    client = admin(at)
    for done in client.create_acls(list(bindings)).values():
        done.result(PATIENCE_SECONDS)


class LimitedFlow:
    """`<name>a-><name>b`, with a user of its own on either side."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.a, self.b = f"{name}a", f"{name}b"
        self.topic, self.group = f"{name}-orders", f"{name}-readers"
        self.remote = f"{self.a}.{self.topic}"
        names = {"A": self.a, "B": self.b, "groups": f"{name}-*"}
        self.at_source = grants("On the source", topics=f"{name}-*", **names)
        self.at_target = grants("On the target", topics=f"{self.a}.{name}-*", **names)
        if name == "exact":
            self.at_target += grants("On the target, for exactly once", **names)
        if name == "free":
            for grant in grants("For `sync.topic.acls.enabled`, which is MM2's default"):
                (self.at_source if grant.name == "source" else self.at_target).append(grant)
        if name == "bound":
            creating = ("CREATE", "ALTER", "ALTER_CONFIGS")
            self.at_source = without(self.at_source, *creating)
            self.at_target = without(self.at_target, *creating)

    def prepare(self, at: Cluster) -> None:
        create_topics(at, {self.topic: 2}, configs={"retention.bytes": "1073741824"})
        write(at, self.topic, numbered(range(10)))
        commit(at, self.group, {(self.topic, 0): 5})
        if self.name == "bound":
            internal = [
                grant.name
                for grant in (*self.at_source, *self.at_target)
                if grant.kind == "Topic" and grant.name.endswith(".internal")
            ]
            create_topics(at, dict.fromkeys(internal, 1), configs={"cleanup.policy": "compact"})
            create_topics(at, {self.remote: 2})
        for side, given in (("source", self.at_source), ("target", self.at_target)):
            allow(at, [each for grant in given for each in grant.bindings(f"{self.name}-{side}")])

    def properties(self, at: Cluster) -> dict[str, str]:
        settings = {
            "enabled": "true",
            "topics": f"{self.name}-.*",
            "groups": f"{self.name}-.*",
            "sync.group.offsets.enabled": "true",
            "sync.topic.configs.enabled": str(self.name != "bound").lower(),
            "sync.topic.acls.enabled": str(self.name == "free").lower(),
            "emit.heartbeats.enabled": "true",
        }
        intervals = ("emit.checkpoints", "refresh.groups", "sync.group.offsets", "sync.topic.acls")
        settings |= {f"{name}.interval.seconds": "1" for name in intervals}
        found = {f"{self.a}->{self.b}.{name}": value for name, value in settings.items()}
        for alias, side in ((self.a, "source"), (self.b, "target")):
            login = password("PLAIN", user=f"{self.name}-{side}")
            found |= cluster_properties(alias, at, "SASL", login)
        if self.name == "exact":
            found[f"{self.b}.exactly.once.source.support"] = "enabled"
        return found


FLOWS = {name: LimitedFlow(name) for name in ("free", "bound", "exact")}


@pytest.fixture(scope="module")
def mirror(
    guarded: Cluster, spark: LocalSpark, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    create_topics(guarded, {"heartbeats": 1}, configs={"cleanup.policy": "compact"})
    aliases = ", ".join(f"{flow.a}, {flow.b}" for flow in FLOWS.values())
    properties = SHARED | {"clusters": aliases}
    for flow in FLOWS.values():
        flow.prepare(guarded)
        properties |= flow.properties(guarded)
    reader = Grant("Topic", FLOWS["free"].topic, ["READ"])
    allow(guarded, reader.bindings("reader"))
    folder = tmp_path_factory.mktemp("limited")
    with running(spark, load_properties(folder, properties)) as mirror:
        yield mirror


@pytest.mark.parametrize("name", FLOWS)
def test_the_rights_that_are_listed_are_enough(
    guarded: Cluster, mirror: Running, name: str
) -> None:
    flow = FLOWS[name]
    mirror.wait_for_records(30)
    eventually(lambda: committed(guarded, flow.group, flow.remote), lambda found: found == [5])

    assert [record.value for record in read_all(guarded, flow.remote)[0]] == [
        record.value for record in numbered(range(10))
    ]
    if name == "free":
        assert topic_config(guarded, flow.remote)["retention.bytes"] == "1073741824"
        eventually(lambda: readers(guarded, flow.remote), lambda found: "User:reader" in found)


def test_nothing_is_missed_by_flows_with_these_rights(guarded: Cluster, mirror: Running) -> None:
    eventually(lambda: offsets(guarded, "heartbeats")[1], lambda end: end > 0)
    eventually(mirror.problems, lambda found: found == [])


def test_a_check_finds_the_rights_that_are_listed_enough(
    guarded: Cluster, mirror: Running, tmp_path: Path
) -> None:
    properties = SHARED | {"clusters": ", ".join(f"{f.a}, {f.b}" for f in FLOWS.values())}
    for flow in FLOWS.values():
        properties |= flow.properties(guarded)
    found = check_mirror(parties_of(load_properties(tmp_path, properties)), write=False)

    rights = [right for flow in found.flows for right in flow.rights]
    bad = [right for right in rights if right.outcome is not Outcome.OK]
    # The flow that may not create anything cannot add partitions either, and that is said.
    assert {(each.outcome, each.client, each.operations) for each in bad} == {
        (Outcome.WARNING, "admin", ("ALTER",))
    }
    assert found.failures == 0
    assert all("bound" in each.cluster for each in bad)


def readers(at: Cluster, topic: str) -> set[str]:
    wanted = AclBindingFilter(
        *(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, None, None),
        *(AclOperation.READ, AclPermissionType.ALLOW),
    )
    client = admin(at)
    return {acl.principal for acl in client.describe_acls(wanted).result(PATIENCE_SECONDS)}
