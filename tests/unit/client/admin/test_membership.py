"""Answers to a joining member that the test brokers never give."""

from __future__ import annotations

import pytest

from heliograph.client.admin.group_requests import Protocol
from heliograph.client.admin.membership import Membership, MemberState
from heliograph.errors import BrokerError
from heliograph.wire.error_codes import ErrorCode
from support.brokers.scripted import ScriptedCluster, reply


def member(*codes: int) -> Membership:
    """The coordinator of whose group is asked for; the answers are these, one after the other."""
    answers = iter(codes)

    def coordinators(request: object) -> object:
        code = next(answers)
        return reply(coordinators=[reply(key="g", node_id=1, error_code=code, error_message=None)])

    cluster = ScriptedCluster({"FindCoordinatorRequest": coordinators})
    return Membership(
        "g",
        asking=cluster,  # type: ignore[arg-type]
        looking=cluster,  # type: ignore[arg-type]
        protocol=Protocol(type="connect", name="heliograph", metadata=b""),
        assignments=(b"runs", b"stands by"),
        instance_id=None,
    )


def test_who_may_not_join_runs_alone() -> None:
    alone = member(ErrorCode.GROUP_AUTHORIZATION_FAILED)

    alone.step()

    assert alone.state is MemberState.ALONE
    assert alone.runs
    assert alone.step() > 1, "and asks again, but not at once"


def test_a_coordinator_that_is_not_there_yet_is_waited_for() -> None:
    waiting = member(ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.GROUP_AUTHORIZATION_FAILED)

    with pytest.raises(BrokerError) as caught:
        waiting.step()

    assert caught.value.retriable
    assert waiting.state is MemberState.JOINING
    assert not waiting.runs
