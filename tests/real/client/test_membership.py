"""One member of a group runs, the others stand by: on real coordinators, with Kafka's own delays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from heliograph.client.admin.group_members import describe_members
from heliograph.client.admin.group_requests import Protocol
from heliograph.client.admin.membership import Membership, MemberState
from heliograph.embedded import Cluster
from heliograph.errors import BrokerError
from heliograph.mm2.service_member import (
    PROTOCOL,
    PROTOCOL_TYPE,
    RUNS,
    STANDS_BY,
    ServiceProcess,
)
from support.clusters.grouping import client
from support.flows.mirroring import new_alias
from support.waiting import PATIENCE_SECONDS, eventually

_JAVA = "sessioned"


class Stepping:
    """A member and the thread that keeps it one. `stall` leaves it as if its process were stopped."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        #: The generation of the group in which it first ran; -1: none yet, the coordinator has not answered.
        self.ran_in: int | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="member")
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._stop.wait(min(self.member.step(), 0.05))
            except BrokerError as e:
                if not e.retriable:  # not a coordinator that is just being made one
                    raise
            if self.ran_in is None and self.member.runs:
                self.ran_in = self.member.seat.generation

    def stall(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)

    def leave(self) -> None:
        self.stall()
        self.member.leave()

    def becomes(self, standing: MemberState) -> None:
        eventually(lambda: self.member.state, lambda now: now is standing)


@contextmanager
def member(
    cluster: Cluster, group: str, *, instance: str | None = None, protocol: str = PROTOCOL
) -> Iterator[Stepping]:
    with client(cluster) as asking, client(cluster) as looking:
        stepping = Stepping(
            Membership(
                group,
                asking=asking,
                looking=looking,
                protocol=Protocol(
                    type=PROTOCOL_TYPE,
                    name=protocol,
                    metadata=ServiceProcess(host="here", pid=1).metadata(),
                ),
                assignments=(RUNS, STANDS_BY),
                instance_id=instance,
            )
        )
        try:
            yield stepping
        finally:
            stepping.stall()


def test_the_first_runs_before_the_group_is_formed_and_the_next_after_a_session_of_silence(
    three_brokers: Cluster,
) -> None:
    """These brokers wait 3 s for more members of a group that was empty, as all do by default."""
    group = new_alias("session")
    with client(three_brokers) as looking:
        describe_members(looking, group, patience=PATIENCE_SECONDS)  # __consumer_offsets is there
    with member(three_brokers, group) as first:
        first.becomes(MemberState.RUNS)
        with member(three_brokers, group) as second:
            second.becomes(MemberState.STANDS_BY)
            assert first.member.state is MemberState.RUNS
            assert second.ran_in is None
            first.stall()

            # In this order: whoever runs first and second in one look, runs beside the other.
            both = eventually(lambda: (second.member.runs, first.member.runs), lambda runs: runs[0])

    assert first.ran_in == -1, "it waited for the coordinator's answer"
    assert both == (True, False)


def test_a_process_that_is_started_again_takes_its_old_place_before_its_session_ends(
    target_cluster: Cluster,
) -> None:
    group = new_alias("again")
    with (
        client(target_cluster) as looking,
        member(target_cluster, group, instance="one") as killed,
    ):
        killed.becomes(MemberState.RUNS)
        with member(target_cluster, group) as other:
            other.becomes(MemberState.STANDS_BY)
            killed.stall()
            with member(target_cluster, group, instance="one") as again:
                again.becomes(MemberState.RUNS)
                assert other.ran_in is None  # it would, had the session ended first
                again.leave()
                left = describe_members(looking, group, patience=PATIENCE_SECONDS).members
                other.becomes(MemberState.RUNS)

    assert [each.instance_id for each in left] == [None]


def test_a_copy_of_a_process_takes_its_place_and_the_first_stands_by(
    target_cluster: Cluster,
) -> None:
    group = new_alias("copy")
    with member(target_cluster, group, instance="one") as first:
        first.becomes(MemberState.RUNS)
        with member(target_cluster, group, instance="one") as copy:
            copy.becomes(MemberState.RUNS)
            first.becomes(MemberState.STANDS_BY)
            assert copy.member.runs


def test_members_of_another_kind_are_waited_for(target_cluster: Cluster) -> None:
    group = new_alias("java")
    with member(target_cluster, group, protocol=_JAVA) as java, client(target_cluster) as looking:
        java.becomes(MemberState.RUNS)
        with member(target_cluster, group) as ours:
            ours.becomes(MemberState.REFUSED)
            found = describe_members(looking, group, patience=PATIENCE_SECONDS)
            assert (found.protocol, len(found.members)) == (_JAVA, 1)
            java.leave()
            ours.becomes(MemberState.RUNS)
