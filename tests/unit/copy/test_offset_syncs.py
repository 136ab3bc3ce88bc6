"""What a task tells about where records landed; no broker is asked before `start`."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.background_writer import BackgroundWriter
from heliograph.copy.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.model import ClusterConfig, Lease, OffsetRange, PartitionState

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
    return Partition(lease, start, start, start)


def new_syncs(flow: FlowConfig, *copies: Partition) -> Syncs:
    return Syncs(flow, copies, source=CLUSTERS[0], target=CLUSTERS[1], state=new_state(CLUSTERS[1]))


def new_state(target: ClusterConfig) -> BackgroundWriter:
    return BackgroundWriter(target, "mm2-heliograph.a.internal", client_id="test", what="test")


def batch(first: int, count: int, *runs: tuple[int, int]) -> ProducerBatch:
    after = runs[-1][0] + runs[-1][1] if runs else first + count
    return ProducerBatch(memoryview(b""), count, first, after, runs or None)


def told(syncs: Syncs) -> tuple[OffsetRange, ...]:
    (receipt,) = syncs.receipts()
    return receipt.stretches


def test_a_batch_with_holes_lands_in_its_runs(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)

    syncs.landed(copy, batch(0, 10), 100)
    syncs.landed(copy, batch(10, 5, (10, 2), (14, 3)), 110)
    copy.acked = 20
    syncs.flush()

    assert told(syncs) == (
        OffsetRange(0, 100, 12),
        OffsetRange(14, 112, 3),
        OffsetRange(20, 115, 0),
    )
    assert told(syncs) == ()


def test_a_batch_without_a_place_is_lost_counted_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """DUPLICATE_SEQUENCE_NUMBER: the broker has it, and does not remember where."""
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)

    syncs.landed(copy, batch(0, 10), 100)
    syncs.landed(copy, batch(10, 5, (10, 2), (14, 3)), -1)
    copy.acked = 17
    syncs.flush()

    assert told(syncs) == (OffsetRange(0, 100, 10), OffsetRange(10, -1, 7))
    assert syncs.lost == 5
    assert "source offsets 10 to 16, but does not say where" in caplog.text


def test_a_report_is_bounded_and_the_next_one_has_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heliograph.copy.offset_syncs._STRETCHES_PER_REPORT", 10)
    copies = [new_copy(flow(tmp_path), partition) for partition in range(2)]
    syncs = new_syncs(flow(tmp_path), *copies)
    for copy in copies:
        for n in range(7):
            syncs.landed(copy, batch(2 * n, 1), n)
            copy.acked = 2 * n + 1
    syncs.flush()

    assert [len(receipt.stretches) for receipt in syncs.receipts()] == [5, 5]
    assert [len(receipt.stretches) for receipt in syncs.receipts()] == [2, 2]


def test_nothing_is_gathered_where_nothing_is_wanted(tmp_path: Path) -> None:
    config = flow(tmp_path, emit_offset__syncs_enabled="false", offset_translation="syncs")
    copy = new_copy(config)
    syncs = new_syncs(config, copy)

    syncs.landed(copy, batch(0, 10), 100)
    syncs.flush()

    assert copy.landing is None
    assert told(syncs) == ()


def test_stretches_go_to_the_state_topic_with_a_flush(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    state = new_state(CLUSTERS[1])
    syncs = Syncs(flow(tmp_path), [copy], source=CLUSTERS[0], target=CLUSTERS[1], state=state)

    syncs.landed(copy, batch(0, 10), 100)
    copy.acked = 10
    syncs.tick(0.0)
    assert state.settled

    syncs.flush()
    assert not state.settled


def test_a_partition_without_news_has_the_very_same_receipt(tmp_path: Path) -> None:
    """Whoever gets thousands of them every second need not look at what they say."""
    quiet, busy = new_copy(flow(tmp_path)), new_copy(flow(tmp_path), 1)
    syncs = new_syncs(flow(tmp_path), quiet, busy)
    before = syncs.receipts()

    busy.outstanding = 1
    busy.acknowledge(10, 10, 100)
    after = syncs.receipts()

    assert after[0] is before[0]
    assert (after[1].position, after[1].records, after[1].bytes) == (10, 10, 100)
    quiet.state, quiet.error = PartitionState.RETRYING, "no leader"
    assert syncs.receipts()[0].error == "no leader"
    quiet.stored = None
    assert not syncs.receipts()[0].stored


def test_nothing_is_collected_before_something_moves(tmp_path: Path) -> None:
    copy = new_copy(flow(tmp_path))
    syncs = new_syncs(flow(tmp_path), copy)
    syncs.tick(0.0)

    syncs.landed(copy, batch(0, 10), 100)
    copy.acked = 10
    syncs.tick(1e9)
    assert told(syncs) == ()
    syncs.moved = True
    syncs.tick(2e9)

    assert told(syncs) == (OffsetRange(0, 100, 10),)
