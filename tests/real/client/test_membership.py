"""One member of a group runs, the others stand by: on real coordinators, with Kafka's own delays."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from heliograph.client.admin.group_members import describe_members
from heliograph.client.admin.group_requests import Protocol
from heliograph.client.admin.membership import Membership, Standing
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
from support.waiting import eventually

_JAVA = "sessioned"


class Stepping:
    """A member and the thread that keeps it one. `stall` leaves it as if its process were stopped."""

    def __init__(self, member: Membership) -> None:
        self.member = member
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

    def stall(self) -> None:
        self._stop.set()
        self._thread.join(10)

    def leave(self) -> None:
        self.stall()
        self.member.leave()

    def becomes(self, standing: Standing, *, within: float) -> float:
        """After how many seconds."""
        began = time.monotonic()
        eventually(lambda: self.member.standing, lambda now: now is standing, within=within)
        return time.monotonic() - began


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


def test_the_first_runs_at_once_and_the_next_when_it_has_been_silent_for_a_session(
    three_brokers: Cluster,
) -> None:
    """These brokers wait 3 s for more members of a group that was empty, as all do by default."""
    group = new_alias("session")
    with client(three_brokers) as looking:
        describe_members(looking, group, patience=30)  # __consumer_offsets is there
    with member(three_brokers, group) as first:
        first.becomes(Standing.RUNS, within=2)
        with member(three_brokers, group) as second:
            second.becomes(Standing.STANDS_BY, within=15)
            assert first.member.standing is Standing.RUNS
            first.stall()

            eventually(
                lambda: (first.member.runs, second.member.runs),
                lambda runs: runs == (False, False),
                within=6.5,
            )
            second.becomes(Standing.RUNS, within=3)
            assert not first.member.runs


def test_a_process_that_is_started_again_takes_its_old_place_at_once(
    target_cluster: Cluster,
) -> None:
    group = new_alias("again")
    with member(target_cluster, group, instance="one") as killed:
        killed.becomes(Standing.RUNS, within=10)
        with member(target_cluster, group) as other:
            other.becomes(Standing.STANDS_BY, within=5)
            killed.stall()
            with member(target_cluster, group, instance="one") as again:
                assert again.becomes(Standing.RUNS, within=3) < 1
                assert other.member.standing is Standing.STANDS_BY
                again.leave()
                assert other.becomes(Standing.RUNS, within=3) < 2


def test_a_copy_of_a_process_takes_its_place_and_the_first_stands_by(
    target_cluster: Cluster,
) -> None:
    group = new_alias("copy")
    with member(target_cluster, group, instance="one") as first:
        first.becomes(Standing.RUNS, within=5)
        with member(target_cluster, group, instance="one") as copy:
            copy.becomes(Standing.RUNS, within=5)
            first.becomes(Standing.STANDS_BY, within=5)
            assert copy.member.runs


def test_members_of_another_kind_are_waited_for(target_cluster: Cluster) -> None:
    group = new_alias("java")
    with member(target_cluster, group, protocol=_JAVA) as java, client(target_cluster) as looking:
        java.becomes(Standing.RUNS, within=5)
        with member(target_cluster, group) as ours:
            ours.becomes(Standing.REFUSED, within=5)
            found = describe_members(looking, group, patience=5)
            assert (found.protocol, len(found.members)) == (_JAVA, 1)
            java.leave()
            ours.becomes(Standing.RUNS, within=5)
