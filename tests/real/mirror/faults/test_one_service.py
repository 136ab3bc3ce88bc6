"""Two services with the same configuration: one runs the flow, the other stands by, none doubles."""

from __future__ import annotations

import threading

import pytest

from heliograph.client.admin.coordinators import find_coordinator
from heliograph.client.admin.group_members import describe_members
from heliograph.client.admin.group_requests import Seat, leave_request
from heliograph.client.admin.membership import Membership
from heliograph.errors import ClientError
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.status import observe_mirror
from heliograph.mm2.service_member import RUNS
from heliograph.runtime.leadership import Leadership
from support.clusters.grouping import client
from support.flows.mirroring import TARGET, Flow, mirror_once
from support.flows.under_load import wait_for_all_values, wait_for_same_length, writing
from support.waiting import PATIENCE_SECONDS, eventually

_FLUSH = {f"{TARGET}.offset.flush.interval.ms": "100"}


def services(flow: Flow) -> list[str]:
    """The states of all services of a flow, as `status` shows them."""
    config = flow.config()
    clusters = Clusters(config, client_id="test")
    try:
        (found,) = observe_mirror(config, clusters).flows
        return [member.state for member in found.members]
    finally:
        clusters.close()


def wait_for_standby(flow: Flow) -> None:
    eventually(lambda: services(flow), lambda found: found == ["RUNNING", "STANDBY"])


def test_a_second_service_stands_by_and_takes_over_when_the_first_stops(flow: Flow) -> None:
    topic = flow.create(partitions=2)

    with flow.running() as first, writing(flow.source, topic, 2) as enough:
        first.wait_for_records(20)
        with flow.running() as second:
            wait_for_standby(flow)
            with pytest.raises(ClientError, match="STANDBY: another Heliograph runs it"):
                mirror_once(flow.spark, flow.config({"once.timeout.seconds": "20"}))
            assert second.progress.records == 0
            first.stop()
            second.wait_for_records(20)
            enough.set()
            wait_for_same_length(flow, topic, 2)

    assert flow.assert_mirrored(topic) > 40


def test_a_service_that_lost_its_place_goes_back_to_stand_by(flow: Flow) -> None:
    topic = flow.create(partitions=2)

    with flow.running(_FLUSH) as first, writing(flow.source, topic, 2) as enough:
        first.wait_for_records(20)
        with flow.running(_FLUSH) as second:
            wait_for_standby(flow)
            throw_out_who_runs(flow)
            second.wait_for_records(20)
            wait_for_standby(flow)
            eventually(lambda: first.progress.epoch, lambda epoch: epoch == -1)  # nothing is leased
            enough.set()
            wait_for_all_values(flow, topic, 2)


def throw_out_who_runs(flow: Flow) -> None:
    """As `kafka-consumer-groups --remove-members` would, and as a session that ended does."""
    group = f"{flow.alias}-mm2"
    with client(flow.target, TARGET) as target:
        members = describe_members(target, group, patience=PATIENCE_SECONDS).members
        (runs,) = [member for member in members if member.assignment == RUNS]
        seat = Seat(group=group, member_id=runs.member_id, instance_id=runs.instance_id)
        answer = target.call(find_coordinator(target, group), leave_request(seat))
        assert answer.error_code == 0


@pytest.mark.parametrize(("whose", "word"), [(Leadership, "leads"), (Membership, "runs")])
def test_a_moment_of_fallback_about_who_runs_a_flow_doubles_nothing(
    flow: Flow, monkeypatch: pytest.MonkeyPatch, whose: type, word: str
) -> None:
    """A coordinator that is late by more than a session, and then confirms: nobody else has run it, but
    what the tasks of the dropped epoch did last has to be looked up, in a new term as well."""
    topic = flow.create(partitions=2)
    said = getattr(whose, word).fget
    doubt = threading.Event()

    with flow.running() as mirror, writing(flow.source, topic, 2) as enough:
        mirror.wait_for_records(20)
        epoch = mirror.progress.epoch
        monkeypatch.setattr(whose, word, property(lambda self: not doubt.is_set() and said(self)))
        doubt.set()
        eventually(lambda: mirror.progress.epoch, lambda now: now == -1)
        doubt.clear()
        eventually(lambda: mirror.progress.epoch, lambda now: now > epoch)
        mirror.wait_for_records(mirror.progress.records + 20)
        enough.set()
        wait_for_same_length(flow, topic, 2)

    assert flow.assert_mirrored(topic) > 40
