"""What a task tells about where records landed; no broker is asked before `start`."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.model import ClusterConfig, Lease, OffsetRange

CLUSTERS = [ClusterConfig(alias=alias, bootstrap_servers=("localhost:1",)) for alias in "ab"]


def flow(folder: Path, **settings: str) -> FlowConfig:
    path = folder / "mm2.properties"
    lines = ["clusters = a, b", "a->b.enabled = true", "a.bootstrap.servers = localhost:1"]
    lines += ["b.bootstrap.servers = localhost:1"]
    lines += [f"{key.replace('__', '-').replace('_', '.')} = {v}" for key, v in settings.items()]
    path.write_text("\n".join(lines))
    return load(path).flows[0]


def new_copy(flow: FlowConfig, partition: int = 0, start: int = 0) -> Partition:
    lease = Lease(
        flow=flow.name, topic="orders", partition=partition, target_topic="a.orders", start=start
    )
    return Partition(lease)


def new_syncs(flow: FlowConfig, *copies: Partition) -> Syncs:
    return Syncs(flow, copies, source=CLUSTERS[0], target=CLUSTERS[1], state=new_state(CLUSTERS[1]))


def new_state(target: ClusterConfig) -> BackgroundWriter:
    return BackgroundWriter(target, "mm2-heliograph.a.internal", client_id="test", what="test")


def batch(first: int, count: int, *runs: tuple[int, int]) -> ProducerBatch:
    after = runs[-1][0] + runs[-1][1] if runs else first + count
    return ProducerBatch(memoryview(b""), count, first, after, runs or None)


def told(syncs: Syncs) -> tuple[OffsetRange, ...]:
    found = syncs.take_unreported()
    assert len(found) <= 1
    return next(iter(found.values()), ())


def test_a_batch_with_holes_lands_in_its_runs(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)

    copy.remote.note_place(batch(0, 10), 100)
    copy.remote.note_place(batch(10, 5, (10, 2), (14, 3)), 110)
    copy.acked = 20
    syncs.flush()

    assert told(syncs) == (
        OffsetRange(0, 100, 12),
        OffsetRange(14, 112, 3),
        OffsetRange(20, 115, 0),
    )
    assert told(syncs) == ()


def test_a_batch_without_a_place_is_lost_and_counted(tmp_path: Path) -> None:
    """DUPLICATE_SEQUENCE_NUMBER: the broker has it, and does not remember where."""
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)

    copy.remote.note_place(batch(0, 10), 100)
    copy.remote.note_place(batch(10, 5, (10, 2), (14, 3)), -1)
    copy.acked = 17
    syncs.flush()

    assert told(syncs) == (OffsetRange(0, 100, 10), OffsetRange(10, -1, 7))
    assert copy.remote.unplaced == 5


def test_a_report_is_bounded_and_the_next_one_has_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heliograph.copy.bookkeeping.offset_syncs._RANGES_PER_REPORT", 10)
    copies = [new_copy(flow(tmp_path), partition) for partition in range(2)]
    syncs = new_syncs(flow(tmp_path), *copies)
    for copy in copies:
        for n in range(7):
            copy.remote.note_place(batch(2 * n, 1), n)
            copy.acked = 2 * n + 1
    syncs.flush()

    assert [len(ranges) for ranges in syncs.take_unreported().values()] == [5, 5]
    assert [len(ranges) for ranges in syncs.take_unreported().values()] == [2, 2]


def test_nothing_is_gathered_where_nothing_is_wanted(tmp_path: Path) -> None:
    config = flow(tmp_path, emit_offset__syncs_enabled="false", offset_translation="syncs")
    copy = new_copy(config)
    syncs = new_syncs(config, copy)

    copy.remote.note_place(batch(0, 10), 100)
    syncs.flush()

    assert copy.remote.landing is None
    assert told(syncs) == ()


def test_ranges_go_to_the_state_topic_with_a_flush(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    state = new_state(CLUSTERS[1])
    syncs = Syncs(flow(tmp_path), [copy], source=CLUSTERS[0], target=CLUSTERS[1], state=state)

    copy.remote.note_place(batch(0, 10), 100)
    copy.acked = 10
    syncs.tick(0.0)
    assert state.settled

    syncs.flush()
    assert not state.settled


def test_nothing_is_collected_before_something_moves(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)
    syncs.tick(0.0)

    copy.remote.note_place(batch(0, 10), 100)
    copy.acked = 10
    syncs.tick(1e9)
    assert told(syncs) == ()
    syncs.moved = True
    syncs.tick(2e9)

    assert told(syncs) == (OffsetRange(0, 100, 10),)
