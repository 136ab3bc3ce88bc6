"""Refusals that the test brokers never give, since tests run as super user."""

from __future__ import annotations

from typing import cast

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import BrokerError
from heliograph.sync.acls import ALL_ACLS, AclChanges, sync_acls
from heliograph.wire.acls import AclOperation, AclPermission, PatternType
from support.brokers.scripted import ScriptedCluster, reply


def cluster(*, describe: int = 0, create: int = 0) -> ScriptedCluster:
    """With one ACL on `orders`; other answers are error codes."""
    acl = reply(
        principal="User:reader",
        host="*",
        operation=AclOperation.READ,
        permission_type=AclPermission.ALLOW,
    )
    resource = reply(resource_name="orders", pattern_type=PatternType.LITERAL, acls=[acl])
    described = reply(
        error_code=describe, error_message="why", resources=[] if describe else [resource]
    )
    created = reply(results=[reply(error_code=create, error_message="why")])
    return ScriptedCluster(
        {"DescribeAclsRequest": lambda _: described, "CreateAclsRequest": lambda _: created}
    )


def sync(flow: FlowConfig, source: ScriptedCluster, target: ScriptedCluster) -> AclChanges:
    clients = (cast(ClusterClient, source), cast(ClusterClient, target))
    return sync_acls(flow, flow.topic_filter(), *clients)


def test_who_may_not_list_the_targets_acls_sends_them_all(flow: FlowConfig) -> None:
    changes = sync(flow, cluster(), cluster(describe=31))

    assert [acl.topic for acl in changes.applied] == ["a.orders"]
    assert changes.problems == {}


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (
            cluster(describe=31),
            cluster(),
            "grant DESCRIBE on the source cluster, or set sync.topic",
        ),
        (
            cluster(),
            cluster(create=31),
            "grant ALTER on the target cluster, or set sync.topic.acls",
        ),
    ],
)
def test_what_is_refused_as_a_whole_is_one_problem(
    flow: FlowConfig, source: ScriptedCluster, target: ScriptedCluster, sentence: str
) -> None:
    changes = sync(flow, source, target)

    assert not changes.applied
    assert changes.problems.keys() == {ALL_ACLS}
    assert sentence in changes.problems[ALL_ACLS]


@pytest.mark.parametrize(
    ("source", "target", "side"),
    [
        (cluster(describe=54), cluster(), "source"),
        (cluster(), cluster(describe=54), "target"),
        (cluster(), cluster(create=54), "target"),
    ],
)
def test_a_cluster_without_an_authorizer_gets_a_note_and_is_no_problem(
    flow: FlowConfig, source: ScriptedCluster, target: ScriptedCluster, side: str
) -> None:
    changes = sync(flow, source, target)

    assert (changes.applied, changes.problems) == ((), {})
    assert changes.note is not None
    assert changes.note.startswith(f"No ACL authorizer is configured on the {side} Kafka cluster")


def test_an_acl_that_is_refused_is_a_problem_of_its_topic(flow: FlowConfig) -> None:
    changes = sync(flow, cluster(), cluster(create=42))

    assert not changes.applied
    assert "ALLOW READ on a.orders for User:reader from *" in changes.problems["a.orders"]


def test_what_another_try_may_mend_is_raised(flow: FlowConfig) -> None:
    with pytest.raises(BrokerError):
        sync(flow, cluster(describe=7), cluster())
