"""Well-formed responses that do not match their request are errors of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from heliograph.client.admin import coordinators
from heliograph.client.admin.acls import create_topic_acls
from heliograph.client.admin.coordinators import find_coordinator
from heliograph.client.admin.group_members import describe_at
from heliograph.client.admin.groups import commit_offsets, describe_groups
from heliograph.client.admin.topics import topic_config
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator
from heliograph.errors import MalformedResponse
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.wire.acls import TopicAcl
from support.brokers.scripted import ScriptedCluster, reply

COMMIT = {"mine": {TopicPartition("t", 0): CommittedOffset(1)}}
ACL = TopicAcl(topic="t", pattern_type=3, principal="User:a", host="*", operation=3, permission=3)


def cluster(**answers: Any) -> ClusterClient:
    """By the names of requests."""
    made = {name: lambda _, answer=answer: answer for name, answer in answers.items()}
    return cast(ClusterClient, ScriptedCluster(made))


def coordinator(*groups: str) -> Any:
    found = [reply(key=g, node_id=1, error_code=0, error_message=None) for g in groups]
    return reply(coordinators=found)


def listing(*groups: str) -> Any:
    found = [
        reply(group_id=g, group_type="", protocol_type="consumer", group_state="") for g in groups
    ]
    return reply(error_code=0, groups=found)


def description(*groups: str) -> Any:
    return reply(groups=[reply(group_id=g, error_code=0, group_state="Empty") for g in groups])


@pytest.mark.parametrize(
    "ask",
    [
        lambda: topic_config(
            cluster(DescribeConfigsRequest=reply(results=[])), "t", "max.message.bytes"
        ),
        lambda: create_topic_acls(cluster(CreateAclsRequest=reply(results=[])), [ACL]),
        lambda: describe_at(cluster(DescribeGroupsRequest=description()), 1, "mine"),
        lambda: describe_at(cluster(DescribeGroupsRequest=description("mine", "x")), 1, "mine"),
        lambda: find_coordinator(cluster(FindCoordinatorRequest=coordinator("other")), "mine"),
        lambda: commit_offsets(
            cluster(FindCoordinatorRequest=coordinator("other")), COMMIT, patience=0
        ),
        lambda: describe_groups(
            cluster(
                ListGroupsRequest=listing("mine"),
                FindCoordinatorRequest=coordinator("mine"),
                DescribeGroupsRequest=description("other"),
            ),
            ["mine"],
            patience=0,
        ),
        lambda: Coordinator(
            cluster(FindCoordinatorRequest=coordinator()), "mine", timeout_ms=1000
        )._find(),
    ],
    ids=[
        *("no setting", "no ACL", "no group", "two groups", "another group's coordinator"),
        *("a commit", "another group's state", "no coordinator"),
    ],
)
def test_an_answer_to_something_else_is_malformed(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinators.time, "sleep", lambda _: None)

    with pytest.raises(MalformedResponse, match=r"scripted"):
        ask()
