"""Groups of real brokers: listed, read in batches, committed to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heliograph.client.admin.groups import (
    commit_offsets,
    committed_offsets,
    describe_groups,
    list_groups,
)
from heliograph.client.net.cluster import ClusterClient
from heliograph.embedded import Cluster
from heliograph.model import CommittedOffset, TopicPartition
from heliograph.wire.error_codes import ErrorCode
from support.clusters.grouping import client, commit, committed, member
from support.clusters.writing import create_topics
from support.waiting import PATIENCE_SECONDS, eventually


@pytest.fixture(scope="module")
def topic(source_cluster: Cluster) -> str:
    create_topics(source_cluster, {"grouped": 10})
    return "grouped"


@pytest.fixture
def cluster(source_cluster: Cluster) -> Iterator[ClusterClient]:
    with client(source_cluster) as made:
        yield made


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_are_listed_with_type_protocol_and_state(
    source_cluster: Cluster, cluster: ClusterClient, topic: str, protocol: str
) -> None:
    group = f"listed-{protocol}"
    with member(source_cluster, group, topic, protocol=protocol):
        found = eventually(
            lambda: list_groups(cluster)[group], lambda listing: listing.state == "Stable"
        )
    left = eventually(
        lambda: describe_groups(cluster, [group, "nobody"]),
        lambda seen: seen[group].state == "Empty",
    )

    assert (found.type.lower(), found.protocol) == (protocol, "consumer")
    assert left.keys() == {group}


def test_the_offsets_of_many_groups_come_in_a_few_round_trips(
    source_cluster: Cluster, cluster: ClusterClient, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"many-{number}" for number in range(100)]
    wanted = {
        TopicPartition(topic, number): CommittedOffset(number, "noted") for number in range(10)
    }
    calls: list[object] = []
    for method in ("call_any", "call_all"):
        original = getattr(ClusterClient, method)

        def counted(self: ClusterClient, *rest: object, original=original) -> object:  # type: ignore[no-untyped-def]
            calls.append(rest)
            return original(self, *rest)

        monkeypatch.setattr(ClusterClient, method, counted)

    assert commit_offsets(cluster, dict.fromkeys(names, wanted)) == {}
    calls.clear()
    found, failed = committed_offsets(cluster, [*names, "nobody"])

    assert not failed
    assert found == dict.fromkeys(names, wanted) | {"nobody": {}}
    assert len(calls) <= 4
    assert committed(source_cluster, "many-99", topic, 0, 9) == [0, 9]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_members_refuses_a_commit_and_keeps_its_offsets(
    source_cluster: Cluster, cluster: ClusterClient, topic: str, protocol: str
) -> None:
    group, key = f"busy-{protocol}", TopicPartition(topic, 0)
    with member(source_cluster, group, topic, protocol=protocol):
        failed = commit_offsets(cluster, {group: {key: CommittedOffset(5)}})

    assert failed[group].code == ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(source_cluster, group, topic)[0] < 0


def test_an_empty_group_of_either_protocol_takes_a_commit(
    source_cluster: Cluster, cluster: ClusterClient, topic: str
) -> None:
    key = TopicPartition(topic, 0)
    for protocol in ("classic", "consumer"):
        with member(source_cluster, f"empty-{protocol}", topic, protocol=protocol):
            pass
        failed = eventually(
            lambda protocol=protocol: commit_offsets(
                cluster, {f"empty-{protocol}": {key: CommittedOffset(7)}}
            ),
            lambda failed: not failed,
        )
        assert committed(source_cluster, f"empty-{protocol}", topic) == [7], failed


def test_a_commit_for_a_topic_that_is_not_there_is_the_groups_own_problem(
    source_cluster: Cluster, cluster: ClusterClient, topic: str
) -> None:
    good, bad = TopicPartition(topic, 0), TopicPartition("not-there", 0)

    failed = commit_offsets(
        cluster, {"well": {good: CommittedOffset(1)}, "ill": {bad: CommittedOffset(1)}}
    )

    assert failed.keys() == {"ill"}
    assert "not-there-0" in str(failed["ill"])
    assert committed(source_cluster, "well", topic) == [1]


def test_groups_are_found_again_when_their_coordinator_stops(three_brokers: Cluster) -> None:
    create_topics(three_brokers, {"moving": 1}, replicas=3)
    names = [f"moving-{number}" for number in range(10)]
    for name in names:
        commit(three_brokers, name, {("moving", 0): 3})
    with client(three_brokers) as cluster:
        before, _ = committed_offsets(cluster, names)
        three_brokers.stop_node(2)
        try:
            after, failed = committed_offsets(cluster, names, patience=PATIENCE_SECONDS)
            listed = list_groups(cluster, patience=PATIENCE_SECONDS)
        finally:
            three_brokers.start_node(2)

    assert not failed
    assert before == after
    assert set(names) <= listed.keys()
