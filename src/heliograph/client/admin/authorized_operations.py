"""Reads from brokers what this client's user may do (KIP-430), and changes nothing.

Without an authorizer, brokers say that everything is allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.client.admin.coordinators import ask_coordinators
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.response_checks import pairs
from heliograph.errors import BrokerError
from heliograph.wire import messages
from heliograph.wire.acls import AclOperation
from heliograph.wire.error_codes import ErrorCode

Operations = frozenset[AclOperation]

_NONE: Operations = frozenset()
#: From version 11 on, Metadata tells nothing about the cluster.
_METADATA_VERSION = 10
#: From version 6 on, DescribeGroups tells nothing about groups that do not exist yet.
_GROUPS_VERSION = 5
_NO_PRODUCER = -1
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorized:
    """`missing`: topics that do not exist, as far as this user may see; brokers tell rights on these, too.
    Topics, groups and transactional ids that the user may not even describe have no operations."""

    cluster: Operations = _NONE
    topics: Mapping[str, Operations] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    groups: Mapping[str, Operations] = field(default_factory=dict)
    transactional_ids: Mapping[str, Operations] = field(default_factory=dict)


def authorized(
    cluster: ClusterClient,
    *,
    topics: Iterable[str] = (),
    groups: Iterable[str] = (),
    transactional_ids: Iterable[str] = (),
) -> Authorized:
    """Raises ClientError."""
    entry = messages.MetadataRequest.MetadataRequestTopic
    request = messages.MetadataRequest(
        topics=[entry(name=name) for name in sorted(set(topics))],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
        max_version=_METADATA_VERSION,
    )
    response = cluster.call_any(request)
    missing = {
        topic.name
        for topic in response.topics
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    }
    return Authorized(
        cluster=operations(response.authorized_operations),
        topics={
            topic.name: operations(topic.authorized_operations)
            for topic in response.topics
            if topic.authorized_operations is not None or topic.name not in missing
        },
        missing=frozenset(missing),
        groups=_of_groups(cluster, sorted(set(groups))),
        transactional_ids=_of_transactional_ids(cluster, sorted(set(transactional_ids))),
    )


def operations(numbers: Collection[int] | None) -> Operations:
    """None: the broker did not tell."""
    return frozenset(operation for operation in AclOperation if operation in (numbers or ()))


def _of_groups(cluster: ClusterClient, groups: Sequence[str]) -> dict[str, Operations]:
    found: dict[str, Operations] = {}

    def ask(node: int, its: list[str]) -> dict[str, BrokerError | None]:
        request = messages.DescribeGroupsRequest(
            groups=its, include_authorized_operations=True, max_version=_GROUPS_VERSION
        )
        answers = pairs(its, cluster.call(node, request).groups, "DescribeGroups")
        errors: dict[str, BrokerError | None] = {}
        for group, answer in answers:
            errors[group] = None
            if answer.error_code:
                errors[group] = messages.broker_error(answer.error_code, f"group {group!r}")
            else:
                found[group] = operations(answer.authorized_operations)
        return errors

    failed = ask_coordinators(cluster, groups, ask, patience=_PATIENCE_SECONDS)
    for group, error in failed.items():
        if error.code != ErrorCode.GROUP_AUTHORIZATION_FAILED:
            raise error
        found[group] = _NONE
    return found


def _of_transactional_ids(cluster: ClusterClient, ids: Sequence[str]) -> dict[str, Operations]:
    """Asks to end a transaction of a producer id that does not exist. The broker checks the right to write
    first, and then finds nothing to end, or is not the coordinator."""
    found: dict[str, Operations] = {}
    for each in ids:
        request = messages.EndTxnRequest(
            transactional_id=each,
            producer_id=_NO_PRODUCER,
            producer_epoch=0,
            committed=False,
            max_version=3,
        )
        code = cluster.call_any(request).error_code
        refused = code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        found[each] = _NONE if refused else frozenset({AclOperation.WRITE})
    return found
