"""Observes the processes that run a flow or stand by for it: the members of its group on the target."""

from __future__ import annotations

from heliograph.client.admin.group_members import GroupMember, describe_members
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError
from heliograph.inspection.mirror_status import Member
from heliograph.mm2.service_member import PROTOCOL, RUNS, process_name
from heliograph.wire.error_codes import ErrorCode

_PATIENCE_SECONDS = 3.0
_STABLE = "Stable"


def observe_members(group: str, target: ClusterClient) -> tuple[Member, ...]:
    """Empty without the right to describe the group: a service could not join it and would report that."""
    try:
        found = describe_members(target, group, patience=_PATIENCE_SECONDS)
    except BrokerError as e:
        if e.code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            return ()
        raise
    members = [member_of(found.state, found.protocol, member) for member in found.members]
    return tuple(sorted(members, key=lambda member: (member.state, member.process)))


def member_of(group_state: str, protocol: str, member: GroupMember) -> Member:
    if group_state != _STABLE:
        state = "JOINING"
    elif protocol != PROTOCOL:
        state = "JAVA"
    else:
        state = "RUNNING" if member.assignment == RUNS else "STANDBY"
    return Member(process=process_name(member.metadata, str(member)), state=state)
