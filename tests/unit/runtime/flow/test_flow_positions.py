"""What the positions of the next epoch are, after what was observed and what tasks reported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from heliograph.model import (
    Lineage,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
    TopicPartition,
)
from heliograph.plan.epoch import FlowView
from heliograph.plan.resume import Resumption
from heliograph.runtime.flow.flow_positions import FlowPositions
from support.configurations.mm2_files import BASE, Reader

ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)
SNAPSHOT = ProducerSnapshot(90, 70, 70, ProducerIdentity(7, 0), (50,))


def receipt(
    position: int, *, stored: bool = True, generation: int = 0, snapshot: bool = False
) -> Receipt:
    return Receipt(
        flow="us->eu",
        topic=ONE.topic,
        partition=ONE.partition,
        position=position,
        records=0,
        bytes=0,
        source_end=200,
        stored=stored,
        state=PartitionState.RUNNING,
        snapshot=SNAPSHOT if snapshot else None,
        generation=generation,
    )


@pytest.fixture
def positions() -> FlowPositions:
    made = FlowPositions()
    made.set_partitions([ONE, TWO])
    return made


def view(positions: FlowPositions, folder: Path) -> FlowView:
    lineages: Mapping[TopicPartition, Lineage] = {ONE: Lineage(), TWO: Lineage()}
    return positions.view(Reader(folder)(BASE).flows[0], lineages, lambda _: True)


def test_a_position_by_a_snapshot_is_to_be_stored_unless_it_is(
    positions: FlowPositions, tmp_path: Path
) -> None:
    found = {ONE: Resumption(90, SNAPSHOT), TWO: Resumption(50)}

    assert positions.resume(found, {ONE: 50, TWO: 50}) == {ONE: SNAPSHOT}

    seen = view(positions, tmp_path)
    assert (seen.positions, seen.stored) == ({ONE: 90, TWO: 50}, {ONE: 50, TWO: 50})
    assert (seen.snapshots, seen.unstored) == ({ONE: SNAPSHOT}, {ONE})


def test_partitions_without_a_position_are_unknown_until_they_have_one(
    positions: FlowPositions, tmp_path: Path
) -> None:
    positions.resume({ONE: Resumption(5)}, {ONE: 5})
    assert positions.unknown == {TWO}

    positions.add({TWO: 0})
    positions.start_run({ONE: 12, TWO: 4}, bounded=True)

    seen = view(positions, tmp_path)
    assert (positions.unknown, seen.ends) == (frozenset(), {ONE: 12, TWO: 4})
    assert seen.loads == {ONE: 7.0, TWO: 4.0}


@pytest.mark.parametrize(
    ("told", "position", "unstored", "snapshots"),
    [
        (receipt(120, generation=2, snapshot=True), 120, set(), {ONE: SNAPSHOT}),
        (receipt(120, generation=2, stored=False), 120, {ONE}, {}),
        # An older generation whose positions are valid: its snapshot is of another remote topic.
        (receipt(120, generation=1, snapshot=True), 120, set(), {}),
        (receipt(120, generation=0, snapshot=True), 90, {ONE}, {ONE: SNAPSHOT}),
    ],
    ids=["current", "not stored", "older", "void"],
)
def test_the_last_receipt_is_the_next_position_if_its_generation_counts(
    positions: FlowPositions,
    tmp_path: Path,
    told: Receipt,
    position: int,
    unstored: set[TopicPartition],
    snapshots: dict[TopicPartition, ProducerSnapshot],
) -> None:
    positions.resume({ONE: Resumption(90, SNAPSHOT)}, {ONE: 50})

    positions.settle([told], lambda _: range(1, 3))

    seen = view(positions, tmp_path)
    assert (seen.positions[ONE], seen.unstored, seen.snapshots) == (position, unstored, snapshots)


def test_a_moved_partition_has_no_snapshot_and_is_to_be_stored(
    positions: FlowPositions, tmp_path: Path
) -> None:
    positions.resume({ONE: Resumption(90, SNAPSHOT), TWO: Resumption(8)}, {ONE: 90, TWO: 8})

    positions.move({ONE: 40, TWO: None})

    seen = view(positions, tmp_path)
    assert (seen.positions, seen.snapshots, seen.unstored) == ({ONE: 40}, {}, {ONE, TWO})
    assert positions.unknown == {TWO}


def test_after_forget_nothing_is_copied_until_it_is_observed_again(
    positions: FlowPositions, tmp_path: Path
) -> None:
    positions.resume({ONE: Resumption(90)}, {ONE: 90})

    positions.forget()

    assert not view(positions, tmp_path).positions
