"""Leader election by a classic consumer group: one member runs, the others stand by.

    ──► JoinGroup ──► SyncGroup ──► Heartbeat, every second ──┐
            ▲                                                 │ REBALANCE_IN_PROGRESS: a member joined or left
            └─────────────────────────────────────────────────┘

The group's leader, the member that joined first, assigns the work to itself. It stays the leader as long as
it sends heartbeats; then the coordinator elects another.

Law: at most one member considers itself running. It does so for one session timeout after it sent the request
whose response confirmed it; the coordinator removes it no sooner than one session timeout after that request
arrived. (The drift of clocks within seconds is neglected.)

A coordinator waits for more members when a group was empty (`group.initial.rebalance.delay.ms`, 3 s by
default). We need not wait as long: a member that was seen as the only one of such a group joined first, so it
will be the leader, and runs at once. DescribeGroups on a second connection shows it.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any

from heliograph.client.admin.coordinators import MOVING, find_coordinator
from heliograph.client.admin.group_members import DescribedGroup, GroupMember, describe_at
from heliograph.client.admin.group_requests import (
    Protocol,
    Seat,
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.poller import wait
from heliograph.errors import BrokerError, ClientError
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: The first is the brokers' default minimum (group.min.session.timeout.ms); a broker that requires more gets
#: the next.
_SESSION_SECONDS = (6, 10, 30, 60, 300)
_BEAT_SECONDS = 1.0
#: A standby sends heartbeats more often, to take over soon.
_WATCH_SECONDS = 0.3
#: Longer than a session: so long the others wait in a rebalance for a member that died.
_REBALANCE_SECONDS = 15
#: A member that rejoins must stop running before the coordinator stops waiting for it.
_REJOIN_TRUST_SECONDS = 6.0
_FIRST_LOOK_SECONDS = 0.05
_REFUSED_SECONDS = 1.0
_NO_PERMISSION_SECONDS = 30.0
_WAIT_SECONDS = 0.1
_REBALANCING = "PreparingRebalance"


class MemberState(StrEnum):
    JOINING = "JOINING"
    RUNS = "RUNNING"
    STANDS_BY = "STANDBY"
    REFUSED = "REFUSED"  # the group has members of another kind
    ALONE = "ALONE"  # no permission to join: other members cannot be seen


class Membership:
    """For one thread, except `runs`. `asking` sends the requests that take long (JoinGroup, SyncGroup),
    `looking` all others; its timeout should be shorter than a session."""

    def __init__(
        self,
        group: str,
        *,
        asking: ClusterClient,
        looking: ClusterClient,
        protocol: Protocol,
        assignments: tuple[bytes, bytes],
        instance_id: str | None,
    ) -> None:
        """`assignments` are those of the running member and of the standbys."""
        self.seat = Seat(group=group, instance_id=instance_id)
        self._asking = asking
        self._looking = looking
        self._protocol = protocol
        self._assignments = assignments
        self._session = 0
        self._node: int | None = None
        self._rejoin = True
        self._answers: list[Any] = []
        self._on_answer: Callable[[Any], None] | None = None
        self._asked_at = 0.0
        self._next_look = 0.0
        self._next_try = 0.0
        self._runs = False
        self._until = 0.0
        self._state = MemberState.JOINING

    @property
    def runs(self) -> bool:
        """Whether this member runs; may be read from any thread."""
        return self._runs and time.monotonic() < self._until

    @property
    def state(self) -> MemberState:
        if self.runs:
            return MemberState.ALONE if self._state is MemberState.ALONE else MemberState.RUNS
        return MemberState.JOINING if self._state is MemberState.RUNS else self._state

    def step(self) -> float:
        """Do what is due; returns the seconds until more is due.

        Raises ClientError if the coordinator cannot be reached, or refuses for good.
        """
        try:
            return self._step()
        except ClientError as e:
            self._hang_up()
            if isinstance(e, BrokerError) and e.code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
                self._go_alone(e)
                return 0.0
            if self.seat.generation < 0 and self._state is not MemberState.ALONE:
                self._runs = False  # the join request is lost, and with it our place
            raise

    def describe(self) -> DescribedGroup | None:
        """The members of the group; None if they cannot be read now."""
        try:
            described = describe_at(self._looking, self._coordinator(), self.seat.group)
        except ClientError as e:
            log.debug("group %s: %s", self.seat.group, e)
            return None
        return described if isinstance(described, DescribedGroup) else None

    def leave(self) -> None:
        """Leave the group, so that others need not wait for the session timeout. Raises ClientError."""
        self._runs = False
        if self._node is None or not (self.seat.member_id or self._on_answer):
            return  # not a member, or no known coordinator
        answer = self._looking.call(self._node, leave_request(self.seat))
        for code in (answer.error_code, *(member.error_code for member in answer.members or ())):
            if code not in (0, ErrorCode.UNKNOWN_MEMBER_ID):
                raise self._error(code)

    def close(self) -> None:
        self._asking.close()
        self._looking.close()

    # ── joining ──────────────────────────────────────────────────────────────────────────────

    def _step(self) -> float:
        now = time.monotonic()
        if self._on_answer is not None:
            self._await_answer()
            return 0.0
        if now < self._next_try:
            return self._next_try - now
        if self._rejoin:
            self._join()
            return 0.0
        if now >= self._next_look:
            self._beat()
        return max(self._next_look - time.monotonic(), 0.0)

    def _join(self) -> None:
        session = _SESSION_SECONDS[self._session]
        rebalance = max(_REBALANCE_SECONDS, session)
        request = join_request(
            self.seat, self._protocol, session_seconds=session, rebalance_seconds=rebalance
        )
        self._ask(request, self._joined)

    def _joined(self, answer: Any) -> None:
        if answer.error_code:
            self._refused(answer.error_code, answer.member_id)
            return
        us = answer.member_id
        self.seat = replace(self.seat, member_id=us, generation=answer.generation_id)
        # KIP-814: the old assignment holds if a static member comes back and leads.
        members = answer.members if answer.leader == us and not answer.skip_assignment else ()
        runs, stands_by = self._assignments
        assignments = {m.member_id: runs if m.member_id == us else stands_by for m in members}
        self._ask(sync_request(self.seat, self._protocol, assignments), self._synced)

    def _synced(self, answer: Any) -> None:
        if answer.error_code:
            self._refused(answer.error_code)
            return
        self._rejoin = False
        self._runs = bytes(answer.assignment) == self._assignments[0]
        self._state = MemberState.RUNS if self._runs else MemberState.STANDS_BY
        self._until = self._asked_at + _SESSION_SECONDS[self._session]
        self._next_look = time.monotonic() + self._beat_seconds

    def _ask(self, request: Any, on_answer: Callable[[Any], None]) -> None:
        self._asked_at = time.monotonic()
        self._answers = []
        node = self._coordinator()
        connection = self._asking.connection(node)
        connection.ask(request, self._answers.append)
        connection.pump()
        self._on_answer = on_answer
        self._next_look = self._asked_at + _FIRST_LOOK_SECONDS

    def _await_answer(self) -> None:
        connection = self._asking.connection(self._coordinator())
        until_look = max(self._next_look - time.monotonic(), 0.0)
        wait([connection], min(until_look, _WAIT_SECONDS))
        connection.pump()
        if self._answers and self._on_answer is not None:
            then, self._on_answer = self._on_answer, None
            then(self._answers.pop())
        elif time.monotonic() >= self._next_look:
            self._look_meanwhile()

    def _look_meanwhile(self) -> None:
        """While the coordinator waits for other members: check that we are still a member, or the only
        one."""
        sent = time.monotonic()
        self._next_look = sent + _BEAT_SECONDS
        if self.seat.generation >= 0:
            trusted = sent < self._asked_at + _REJOIN_TRUST_SECONDS
            known = (0, ErrorCode.REBALANCE_IN_PROGRESS)
            if self._heartbeat() in known and trusted:
                self._renew(sent)
            return
        described = describe_at(self._looking, self._coordinator(), self.seat.group)
        if not isinstance(described, DescribedGroup):
            return
        ours = [self._is_ours(member) for member in described.members]
        # In another state our request has not arrived, and the member is a predecessor.
        if ours == [True] and described.state == _REBALANCING:
            self._runs, self._state = True, MemberState.RUNS
        if any(ours):
            self._renew(sent)

    def _is_ours(self, member: GroupMember) -> bool:
        if self.seat.instance_id is not None:
            return member.instance_id == self.seat.instance_id
        return member.member_id == self.seat.member_id

    # ── being a member ───────────────────────────────────────────────────────────────────────

    def _beat(self) -> None:
        sent = time.monotonic()
        code = self._heartbeat()
        self._next_look = sent + self._beat_seconds
        if code in (0, ErrorCode.REBALANCE_IN_PROGRESS):
            self._renew(sent)
            self._rejoin = code != 0
        else:
            self._refused(code)

    @property
    def _beat_seconds(self) -> float:
        return _BEAT_SECONDS if self._runs else _WATCH_SECONDS

    def _heartbeat(self) -> int:
        answer = self._looking.call(self._coordinator(), heartbeat_request(self.seat))
        return int(answer.error_code)

    def _renew(self, sent: float) -> None:
        if self._runs:
            self._until = sent + _SESSION_SECONDS[self._session]

    def _refused(self, code: int, member_id: str = "") -> None:
        """Act on an error code; those that only waiting can resolve, or nothing, are raised."""
        if code == ErrorCode.MEMBER_ID_REQUIRED:  # KIP-394: join again, with this id
            self.seat = replace(self.seat, member_id=member_id)
        elif code == ErrorCode.REBALANCE_IN_PROGRESS:
            self._rejoin = True
        elif code == ErrorCode.INVALID_SESSION_TIMEOUT and self._session + 1 < len(
            _SESSION_SECONDS
        ):
            self._session += 1
        elif code in MOVING or code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            raise self._error(code)
        else:
            self._lost(code)

    def _lost(self, code: int) -> None:
        """We are no member any more."""
        self._runs, self._rejoin = False, True
        self.seat = replace(self.seat, generation=-1)
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.seat = replace(self.seat, member_id="")
        elif code == ErrorCode.FENCED_INSTANCE_ID:
            log.warning(
                "group %s: another process has joined with the same group.instance.id (a copied cache "
                "folder?); joining without one",
                self.seat.group,
            )
            self.seat = Seat(group=self.seat.group)
        elif code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            self.seat = replace(self.seat, member_id="")
            self._state = MemberState.REFUSED
            self._next_try = time.monotonic() + _REFUSED_SECONDS
        elif code != ErrorCode.ILLEGAL_GENERATION:
            raise self._error(code)

    def _go_alone(self, error: BrokerError) -> None:
        """Without permission to join, run alone, unless another member is known to run."""
        if self._state in (MemberState.STANDS_BY, MemberState.REFUSED):
            raise error
        self._runs, self._until, self._state = True, math.inf, MemberState.ALONE
        self._rejoin = True
        self.seat = replace(self.seat, generation=-1, member_id="")
        self._next_try = time.monotonic() + _NO_PERMISSION_SECONDS

    def _error(self, code: int) -> BrokerError:
        return messages.broker_error(
            code, f"{self._asking.config.alias}: group {self.seat.group!r}"
        )

    def _hang_up(self) -> None:
        if self._node is not None:
            self._asking.disconnect(self._node)
        self._node, self._on_answer = None, None

    def _coordinator(self) -> int:
        if self._node is None:
            self._node = find_coordinator(self._looking, self.seat.group)
            for client in (self._asking, self._looking):
                if self._node not in client.metadata.nodes:
                    client.refresh([])
        return self._node
