"""Requests about groups: few of them, older brokers, coordinators that move."""

from __future__ import annotations

from typing import Any, cast

import pytest

from heliograph.client.admin import coordinators
from heliograph.client.admin.groups import (
    commit_offsets,
    committed_offsets,
    describe_groups,
    list_groups,
)
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ConnectionLost
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.offset_fetch import FetchedGroup
from support.brokers.scripted import ScriptedCluster, reply

KEY = TopicPartition("t", 0)


def as_client(cluster: ScriptedCluster) -> ClusterClient:
    return cast(ClusterClient, cluster)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinators.time, "sleep", lambda _: None)


def partition(offset: int, error: int = 0) -> Any:
    return reply(partition_index=0, committed_offset=offset, metadata=None, error_code=error)


def topics(offset: int) -> list[Any]:
    return [reply(name="t", partitions=[partition(offset)])]


def found_at(node: int, request: Any) -> Any:
    """FindCoordinator: every group is on `node`."""
    coordinators = [
        reply(key=key, node_id=node, error_code=0, error_message=None)
        for key in request.coordinator_keys
    ]
    return reply(coordinators=coordinators, node_id=node, error_code=0, error_message=None)


def fetched(request: Any, errors: dict[str, int] | None = None) -> Any:
    """OffsetFetch: every group has committed 5."""
    groups = [
        FetchedGroup(g.group_id, (errors or {}).get(g.group_id, 0), {KEY: CommittedOffset(5)}, {})
        for g in request.groups
    ]
    return reply(groups=groups, topics=topics(5), error_code=0)


def test_five_hundred_groups_are_two_requests() -> None:
    cluster = ScriptedCluster(
        {"FindCoordinatorRequest": lambda r: found_at(1, r), "OffsetFetchRequest": fetched}
    )
    names = [f"g{number}" for number in range(500)]

    found, failed = committed_offsets(as_client(cluster), names)

    assert not failed
    assert found == {name: {KEY: CommittedOffset(5)} for name in names}
    assert len(cluster.asked) == 2


def test_brokers_that_take_one_group_at_a_time_are_asked_for_each() -> None:
    cluster = ScriptedCluster(
        {"FindCoordinatorRequest": lambda r: found_at(1, r), "OffsetFetchRequest": fetched},
        versions={"FindCoordinatorRequest": 3, "OffsetFetchRequest": 7},
    )

    found, failed = committed_offsets(as_client(cluster), ["a", "b", "c"])

    assert not failed
    assert found.keys() == {"a", "b", "c"}
    assert [r.key for _, r in cluster.asked if r.name == "FindCoordinatorRequest"] == [
        "a",
        "b",
        "c",
    ]
    assert [r.group_id for _, r in cluster.asked if r.name == "OffsetFetchRequest"] == [
        "a",
        "b",
        "c",
    ]


def test_a_coordinator_that_moved_is_looked_for_again() -> None:
    nodes = iter([1, 2])
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": lambda r: found_at(next(nodes), r),
            "OffsetFetchRequest": lambda r: fetched(r, {"g": 16} if len(cluster.asked) < 3 else {}),
        },
        nodes=[1, 2],
    )

    found, failed = committed_offsets(as_client(cluster), ["g"])

    assert not failed
    assert found == {"g": {KEY: CommittedOffset(5)}}
    assert [node for node, _ in cluster.asked] == [None, 1, None, 2]


def test_a_coordinator_that_never_comes_is_the_groups_problem() -> None:
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": lambda r: reply(
                coordinators=[
                    reply(
                        key="g",
                        node_id=-1,
                        error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE,
                        error_message="wait",
                    )
                ]
            )
        }
    )

    found, failed = committed_offsets(as_client(cluster), ["g"], patience=0)

    assert found == {}
    assert failed["g"].code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "coordinator of group 'g'" in str(failed["g"])


def test_a_coordinator_that_cannot_be_reached_is_raised() -> None:
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": lambda r: found_at(1, r),
            "OffsetFetchRequest": lambda r: ConnectionLost("gone"),
        }
    )

    with pytest.raises(ConnectionLost, match="gone"):
        committed_offsets(as_client(cluster), ["g"], patience=0)


def test_a_group_that_we_may_not_read_does_not_keep_others_from_being_read() -> None:
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": lambda r: found_at(1, r),
            "OffsetFetchRequest": lambda r: fetched(r, {"secret": 30, "gone": 69}),
        }
    )

    found, failed = committed_offsets(as_client(cluster), ["secret", "open", "gone"])

    assert found.keys() == {"open", "gone"}
    assert failed.keys() == {"secret"}
    assert "group 'secret'" in str(failed["secret"])


def test_a_broker_that_still_reads_its_groups_is_waited_for() -> None:
    errors = iter([14, 0])
    group = reply(group_id="g", group_type="Classic", protocol_type="consumer", group_state="Empty")
    cluster = ScriptedCluster(
        {"ListGroupsRequest": lambda r: reply(error_code=next(errors), groups=[group])}
    )

    assert list_groups(as_client(cluster)).keys() == {"g"}


def test_groups_that_may_not_be_listed_are_an_error() -> None:
    cluster = ScriptedCluster(
        {
            "ListGroupsRequest": lambda r: reply(
                error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, groups=[]
            )
        }
    )

    with pytest.raises(BrokerError, match="groups of broker 1"):
        list_groups(as_client(cluster))


def test_states_that_are_not_listed_are_asked_for() -> None:
    """Brokers before Kafka 2.6 (ListGroups below version 4)."""
    listed = [
        reply(group_id=name, group_type=None, protocol_type="consumer", group_state=None)
        for name in ("a", "b", "unwanted")
    ]
    cluster = ScriptedCluster(
        {
            "ListGroupsRequest": lambda r: reply(error_code=0, groups=listed),
            "FindCoordinatorRequest": lambda r: found_at(1, r),
            "DescribeGroupsRequest": lambda r: reply(
                groups=[reply(group_id=g, error_code=0, group_state="Stable") for g in r.groups]
            ),
        }
    )

    found = describe_groups(as_client(cluster), ["a", "b", "absent"])

    assert {name: listing.state for name, listing in found.items()} == {
        "a": "Stable",
        "b": "Stable",
    }


def test_a_commit_names_no_member_and_no_generation() -> None:
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": lambda r: found_at(1, r),
            "OffsetCommitRequest": lambda r: reply(
                topics=[reply(name="t", partitions=[reply(partition_index=0, error_code=0)])]
            ),
        }
    )

    assert commit_offsets(as_client(cluster), {"g": {KEY: CommittedOffset(5, "noted")}}) == {}

    request = cluster.asked[-1][1]
    assert (request.group_id, request.generation_id_or_member_epoch) == ("g", -1)
    assert request.member_id == ""
    (entry,) = request.topics[0].partitions
    assert (entry.committed_offset, entry.committed_metadata) == (5, "noted")
