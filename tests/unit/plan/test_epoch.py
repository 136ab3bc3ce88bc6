"""Leases of an epoch: every partition that has a position, once, up to where the run ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.model import Lease, TopicPartition
from heliograph.plan.epoch import FlowView, plan_epoch


@pytest.fixture
def config(tmp_path: Path) -> MirrorConfig:
    path = tmp_path / "mm2.properties"
    path.write_text(
        "clusters = a, b, c\n"
        + "".join(f"{alias}.bootstrap.servers = {alias}:9092\n" for alias in "abc")
        + "a->b.enabled = true\nc->b.enabled = true\ntasks.max = 4\na->b.tasks.max = 2\n"
    )
    return load(path)


@pytest.fixture
def flow(config: MirrorConfig) -> FlowConfig:
    return config.flow("a->b")


def positions(*offsets: int, topic: str = "orders") -> dict[TopicPartition, int]:
    return {TopicPartition(topic, number): offset for number, offset in enumerate(offsets)}


def leases(tasks: list[list[Lease]]) -> list[Lease]:
    return sorted(
        (lease for task in tasks for lease in task), key=lambda each: (each.flow, each.partition)
    )


def test_a_lease_says_where_to_start_and_where_to_write(flow: FlowConfig) -> None:
    tasks = plan_epoch([FlowView(flow=flow, positions=positions(7))], 1)

    lease = Lease(
        flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=7, share=1.0
    )
    assert tasks == [[lease]]


def test_a_bounded_run_leaves_out_what_is_at_its_end_or_has_none(flow: FlowConfig) -> None:
    ends = {TopicPartition("orders", n): 10 for n in range(3)}
    view = FlowView(flow=flow, positions=positions(0, 10, 11, 5), ends=ends)

    found = leases(plan_epoch([view], 2))

    assert [(lease.partition, lease.start, lease.end) for lease in found] == [(0, 0, 10)]


def test_every_partition_is_leased_exactly_once(config: MirrorConfig) -> None:
    views = [FlowView(flow=flow, positions=positions(*range(20))) for flow in config.flows]

    found = leases(plan_epoch(views, 4))

    assert [(lease.flow, lease.partition) for lease in found] == [
        (name, number) for name in ("a->b", "c->b") for number in range(20)
    ]


def test_a_flow_takes_no_more_tasks_than_tasks_max(config: MirrorConfig) -> None:
    views = [FlowView(flow=flow, positions=positions(*range(20))) for flow in config.flows]

    tasks = plan_epoch(views, 4)

    used = [task for task in tasks if any(lease.flow == "a->b" for lease in task)]
    assert len(used) == 2
    assert len(tasks) == 4


def test_two_hot_partitions_go_to_different_tasks(flow: FlowConfig) -> None:
    loads = {TopicPartition("orders", n): 1e9 if n in (0, 1) else 1.0 for n in range(10)}

    tasks = plan_epoch([FlowView(flow=flow, positions=positions(*[0] * 10), loads=loads)], 2)

    hot = [{lease.partition for lease in task} & {0, 1} for task in tasks]
    assert sorted(map(len, hot)) == [1, 1]


def test_shares_of_a_flow_add_up_to_1_and_follow_number_and_load(flow: FlowConfig) -> None:
    at = positions(0, 0, 0, 0)
    loads = {TopicPartition("orders", 0): 30.0, TopicPartition("orders", 1): 10.0}

    level = leases(plan_epoch([FlowView(flow=flow, positions=at)], 2))
    loaded = leases(plan_epoch([FlowView(flow=flow, positions=at, loads=loads)], 2))

    assert [lease.share for lease in level] == [0.25] * 4
    assert [lease.share for lease in loaded] == [0.5, 0.25, 0.125, 0.125]
