"""Describes the members of a group (DescribeGroups)."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.client.admin.coordinators import ask_coordinators
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.response_checks import only
from heliograph.errors import BrokerError
from heliograph.wire import messages


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """`metadata` and `assignment` are empty while the group rebalances."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    metadata: bytes
    assignment: bytes

    def __str__(self) -> str:
        return f"{self.client_id} at {self.host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """`protocol` is empty unless the group is stable. A group that does not exist has no members."""

    state: str
    protocol_type: str
    protocol: str
    members: tuple[GroupMember, ...]


def describe_members(cluster: ClusterClient, group: str, *, patience: float) -> DescribedGroup:
    """Raises ClientError."""
    found: list[DescribedGroup] = []

    def ask(node: int, _its: list[str]) -> dict[str, BrokerError | None]:
        described = describe_at(cluster, node, group)
        if isinstance(described, DescribedGroup):
            found.append(described)
            return {group: None}
        return {group: described}

    for error in ask_coordinators(cluster, [group], ask, patience=patience).values():
        raise error
    return found[-1]


def describe_at(cluster: ClusterClient, node: int, group: str) -> DescribedGroup | BrokerError:
    """Ask the broker `node`, the coordinator."""
    # Up to version 5 a group that does not exist is in state Dead; later versions return an error.
    request = messages.DescribeGroupsRequest(
        groups=[group], include_authorized_operations=False, max_version=5
    )
    about = f"{cluster.config.alias}: group {group!r}"
    answer = only(cluster.call(node, request).groups, about)
    if answer.error_code:
        return messages.broker_error(answer.error_code, about)
    return DescribedGroup(
        state=answer.group_state,
        protocol_type=answer.protocol_type or "",
        protocol=answer.protocol_data or "",
        members=tuple(
            GroupMember(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                host=member.client_host.lstrip("/"),
                metadata=bytes(member.member_metadata),
                assignment=bytes(member.member_assignment),
            )
            for member in answer.members
        ),
    )
