from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
from heliograph.sync.acls import AclChanges, sync_acls
from support.clusters.writing import admin
from support.flows.sides import Sides, open_sides
from support.waiting import PATIENCE_SECONDS

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
Entry = tuple[str, str, AclOperation, AclPermissionType]
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY


@pytest.fixture
def guarded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sides]:
    """A cluster with an authorizer, which is source and target at once: names keep them apart."""
    name = request.node.originalname
    with (
        Cluster("guarded", settings=AUTHORIZER) as cluster,
        open_sides(name, cluster, cluster, tmp_path) as sides,
    ):
        yield sides


def create_acls(
    cluster: Cluster, *entries: Entry, pattern: ResourcePatternType = ResourcePatternType.LITERAL
) -> None:
    client = admin(cluster)
    bindings = [
        AclBinding(ResourceType.TOPIC, topic, pattern, principal, "*", operation, permission)
        for topic, principal, operation, permission in entries
    ]
    for done in client.create_acls(bindings).values():
        done.result(PATIENCE_SECONDS)


def acls_of(cluster: Cluster, topic: str) -> set[Entry]:
    wanted = AclBindingFilter(
        *(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, None, None),
        *(AclOperation.ANY, AclPermissionType.ANY),
    )
    client = admin(cluster)
    found = client.describe_acls(wanted).result(PATIENCE_SECONDS)
    return {(acl.name, acl.principal, acl.operation, acl.permission_type) for acl in found}


def sync(sides: Sides) -> AclChanges:
    flow = sides.flow()
    return sync_acls(flow, flow.topic_filter(), sides.source, sides.target)


def test_readers_of_a_topic_may_read_its_mirror_and_nobody_may_write_it(guarded: Sides) -> None:
    topic = f"{guarded.alias}-orders"
    remote = guarded.remote(topic)
    create_acls(
        guarded.source_cluster,
        (topic, "User:reader", AclOperation.READ, ALLOW),
        (topic, "User:writer", AclOperation.WRITE, ALLOW),
        (topic, "User:owner", AclOperation.ALL, ALLOW),
        (topic, "User:outcast", AclOperation.ALL, DENY),
        ("unrelated", "User:reader", AclOperation.READ, ALLOW),
    )
    create_acls(
        guarded.source_cluster,
        (topic, "User:prefixed", AclOperation.READ, ALLOW),
        pattern=ResourcePatternType.PREFIXED,
    )

    first = sync(guarded)

    assert first.problems == {}
    assert acls_of(guarded.target_cluster, remote) == {
        (remote, "User:reader", AclOperation.READ, ALLOW),
        (remote, "User:owner", AclOperation.READ, ALLOW),
        (remote, "User:outcast", AclOperation.ALL, DENY),
    }
    assert sync(guarded) == AclChanges(applied=(), problems={})

    create_acls(guarded.source_cluster, (topic, "User:late", AclOperation.DESCRIBE, ALLOW))
    assert [acl.principal for acl in sync(guarded).applied] == ["User:late"]
    assert acls_of(guarded.target_cluster, f"{guarded.alias}.unrelated") == set()


def test_without_an_authorizer_there_is_a_word_of_advice_and_no_more(sides: Sides) -> None:
    """MirrorSourceConnectorTest.testNoBrokerAclAuthorizer"""
    changes = sync(sides)

    assert changes.applied == ()
    assert changes.problems == {}
    assert changes.note == (
        "No ACL authorizer is configured on the source Kafka cluster, so no topic ACL syncing "
        "will take place. Consider disabling topic ACL syncing by setting sync.topic.acls.enabled to "
        "'false'."
    )
