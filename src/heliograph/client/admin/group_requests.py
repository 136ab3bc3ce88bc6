"""Builds the requests of a member of a classic group to its coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.wire import messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A member's identity in its group: `member_id` is assigned by the coordinator, empty before that;
    `instance_id` is our own and survives a restart of the process (KIP-345), or None."""

    group: str
    member_id: str = ""
    instance_id: str | None = None
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The protocol that all members of a group must share, and this member's metadata in it."""

    type: str
    name: str
    metadata: bytes


def join_request(
    seat: Seat, protocol: Protocol, *, session_seconds: int, rebalance_seconds: int
) -> messages.JoinGroupRequest:
    entry = messages.JoinGroupRequest.JoinGroupRequestProtocol
    return messages.JoinGroupRequest(
        group_id=seat.group,
        session_timeout_ms=session_seconds * 1000,
        rebalance_timeout_ms=rebalance_seconds * 1000,
        member_id=seat.member_id,
        group_instance_id=seat.instance_id,
        protocol_type=protocol.type,
        protocols=[entry(name=protocol.name, metadata=protocol.metadata)],
        max_version=9,
    )


def sync_request(
    seat: Seat, protocol: Protocol, assignments: Mapping[str, bytes]
) -> messages.SyncGroupRequest:
    """`assignments` by member id: only the group's leader sends any."""
    entry = messages.SyncGroupRequest.SyncGroupRequestAssignment
    return messages.SyncGroupRequest(
        group_id=seat.group,
        generation_id=seat.generation,
        member_id=seat.member_id,
        group_instance_id=seat.instance_id,
        protocol_type=protocol.type,
        protocol_name=protocol.name,
        assignments=[entry(member_id=id_, assignment=each) for id_, each in assignments.items()],
        max_version=5,
    )


def heartbeat_request(seat: Seat) -> messages.HeartbeatRequest:
    return messages.HeartbeatRequest(
        group_id=seat.group,
        generation_id=seat.generation,
        member_id=seat.member_id,
        group_instance_id=seat.instance_id,
        max_version=4,
    )


def leave_request(seat: Seat) -> messages.LeaveGroupRequest:
    entry = messages.LeaveGroupRequest.MemberIdentity
    return messages.LeaveGroupRequest(
        group_id=seat.group,
        member_id=seat.member_id,
        members=[entry(member_id=seat.member_id, group_instance_id=seat.instance_id)],
        max_version=5,
    )
