"""Lists consumer groups, reads their committed offsets, and commits offsets for groups without members.

Reading offsets takes one request to each coordinator for up to 500 groups (KIP-709).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from heliograph.client.admin.coordinators import MOVING, ask_coordinators
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ClientError
from heliograph.model import CommittedOffset, GroupListing, GroupOffsets, TopicPartition
from heliograph.wire import messages, offset_fetch
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.offset_fetch import FetchedGroup

#: How long to wait for a cluster that elects coordinators or loads groups after a restart.
PATIENCE_SECONDS = 10.0

#: KIP-709: since version 8 of OffsetFetch a request names many groups.
_GROUPS_PER_REQUEST = 500
#: A commit request names one group: so many are sent on a connection before responses are awaited.
_COMMITS_IN_FLIGHT = 100
#: Version 10 of OffsetFetch and OffsetCommit has topic ids instead of names.
_NEWEST_WITH_NAMES = 9


def list_groups(
    cluster: ClusterClient, *, patience: float = PATIENCE_SECONDS
) -> dict[str, GroupListing]:
    """Every group that we may describe, of every type. Each broker lists those that it coordinates."""
    found: dict[str, GroupListing] = {}
    asked: set[int] = set()
    backoff, deadline = Backoff(), time.monotonic() + patience
    while True:
        problem: ClientError | None = None
        for node in cluster.refresh([]).nodes.keys() - asked:
            try:
                response = cluster.call(node, messages.ListGroupsRequest(max_version=5))
                if response.error_code:
                    raise messages.broker_error(
                        response.error_code, f"{cluster.config.alias}: groups of broker {node}"
                    )
            except ClientError as e:
                problem = e
                continue
            asked.add(node)
            for g in response.groups:
                found[g.group_id] = GroupListing(
                    g.group_id, g.group_type or "", g.protocol_type, g.group_state or ""
                )
        if problem is None:
            return found
        if not problem.retriable or time.monotonic() > deadline:
            raise problem
        time.sleep(backoff.next())


def describe_groups(
    cluster: ClusterClient, groups: Iterable[str], *, patience: float = PATIENCE_SECONDS
) -> dict[str, GroupListing]:
    """The state of those of `groups` that exist.

    ListGroups has the state of all groups of a broker, KIP-848's included. Brokers before Kafka 2.6 list no
    states; they have classic groups only, which DescribeGroups covers.
    """
    listed = list_groups(cluster, patience=patience)
    found = {group: listed[group] for group in groups if group in listed}
    silent = [group for group, listing in found.items() if not listing.state]

    def ask(node: int, its: list[str]) -> dict[str, BrokerError | None]:
        request = messages.DescribeGroupsRequest(
            groups=its, include_authorized_operations=False, max_version=5
        )
        errors: dict[str, BrokerError | None] = {}
        for answer in cluster.call(node, request).groups:
            errors[answer.group_id] = _group_error(cluster, answer.group_id, answer.error_code)
            if answer.group_id in its:
                found[answer.group_id] = found[answer.group_id]._replace(state=answer.group_state)
        return errors

    for error in ask_coordinators(cluster, silent, ask, patience=patience).values():
        raise error
    return found


def committed_offsets(
    cluster: ClusterClient, groups: Iterable[str], *, patience: float = PATIENCE_SECONDS
) -> tuple[GroupOffsets, dict[str, BrokerError]]:
    """All committed offsets of the groups, and the groups that could not be read.

    A group that does not exist has committed nothing.
    """
    found: GroupOffsets = {}

    def ask(node: int, its: list[str]) -> dict[str, BrokerError | None]:
        errors: dict[str, BrokerError | None] = {}
        for group, code, offsets, refused in _fetch_offsets(cluster, node, its):
            missing = code == ErrorCode.GROUP_ID_NOT_FOUND
            errors[group] = None if missing else _group_error(cluster, group, code)
            for partition, its_code in refused.items():
                errors[group] = _group_error(cluster, group, its_code, partition)
            if errors[group] is None:
                found[group] = offsets
        return errors

    return found, ask_coordinators(cluster, groups, ask, patience=patience)


def _fetch_offsets(
    cluster: ClusterClient, node: int, groups: Sequence[str]
) -> Iterator[FetchedGroup]:
    for start in range(0, len(groups), _GROUPS_PER_REQUEST):
        chunk = groups[start : start + _GROUPS_PER_REQUEST]
        request = _offsets_request(chunk)
        response = cluster.call(node, request)
        if request.API_VERSION in offset_fetch.VERSIONS:
            yield from response.groups
        else:
            others = cluster.call_all(node, [_offsets_request([group]) for group in chunk[1:]])
            for group, answer in zip(chunk, [response, *others], strict=True):
                yield _fetched_group(group, answer)


def _fetched_group(group: str, answer: Any) -> FetchedGroup:
    """From the response of a broker that answers for one group at a time."""
    fetched = FetchedGroup(group, answer.error_code, {}, {})
    for topic in answer.topics:
        for p in topic.partitions:
            key = TopicPartition(topic.name, p.partition_index)
            if p.error_code:
                fetched.refused[key] = p.error_code
            else:
                fetched.offsets[key] = CommittedOffset(p.committed_offset, p.metadata or "")
    return fetched


def _offsets_request(groups: Sequence[str]) -> messages.OffsetFetchRequest:
    """All topics of one group, or of many: which fields are sent depends on the version."""
    entry = messages.OffsetFetchRequest.OffsetFetchRequestGroup
    return messages.OffsetFetchRequest(
        group_id=groups[0],
        topics=None,
        groups=[entry(group_id=group, topics=None) for group in groups],
        require_stable=False,
        max_version=_NEWEST_WITH_NAMES,
    )


def commit_offsets(
    cluster: ClusterClient, commits: Mapping[str, Mapping[TopicPartition, CommittedOffset]],
    *, patience: float = PATIENCE_SECONDS
) -> dict[str, BrokerError]:  # fmt: skip
    """Commit offsets for groups without members; a group that does not exist is created by it.

    As `Admin.alterConsumerGroupOffsets`: without member id and generation. The broker refuses that with
    UNKNOWN_MEMBER_ID while the group has members. Returns the groups that failed.
    """

    def ask(node: int, its: list[str]) -> dict[str, BrokerError | None]:
        errors: dict[str, BrokerError | None] = {}
        for start in range(0, len(its), _COMMITS_IN_FLIGHT):
            chunk = its[start : start + _COMMITS_IN_FLIGHT]
            requests = [_commit_request(group, commits[group]) for group in chunk]
            for group, response in zip(chunk, cluster.call_all(node, requests), strict=True):
                errors[group] = _commit_error(cluster, group, response)
        return errors

    return ask_coordinators(cluster, commits, ask, patience=patience)


def _commit_request(
    group: str, offsets: Mapping[TopicPartition, CommittedOffset]
) -> messages.OffsetCommitRequest:
    topic_entry = messages.OffsetCommitRequest.OffsetCommitRequestTopic
    entry = topic_entry.OffsetCommitRequestPartition
    by_topic: dict[str, list[Any]] = {}
    for (topic, partition), committed in offsets.items():
        by_topic.setdefault(topic, []).append(
            entry(
                partition_index=partition,
                committed_offset=committed.offset,
                committed_leader_epoch=-1,
                committed_metadata=committed.metadata,
            )
        )
    return messages.OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[topic_entry(name=name, partitions=entries) for name, entries in by_topic.items()],
        max_version=_NEWEST_WITH_NAMES,
    )


def _commit_error(cluster: ClusterClient, group: str, response: Any) -> BrokerError | None:
    """The first error of any partition; a coordinator that moves returns it for all of them."""
    for topic in response.topics:
        for answer in topic.partitions:
            if answer.error_code:
                key = TopicPartition(topic.name, answer.partition_index)
                about = None if answer.error_code in MOVING else key
                return _group_error(cluster, group, answer.error_code, about)
    return None


def _group_error(
    cluster: ClusterClient, group: str, code: int, partition: TopicPartition | None = None
) -> BrokerError | None:
    if not code:
        return None
    about = f", {partition}" if partition is not None else ""
    return messages.broker_error(code, f"{cluster.config.alias}: group {group!r}{about}")
