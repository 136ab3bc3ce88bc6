"""Stored offsets and snapshots that are read while the previous service still writes; no broker is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import ClusterConfig, ProducerIdentity, ProducerSnapshot, TopicPartition
from heliograph.runtime.flow import resume_points as module
from heliograph.sync.offsets import StoredOffset
from support.configurations.mm2_files import BASE, Reader

TP = TopicPartition("orders", 0)


def snapshot(*stored: int) -> dict[TopicPartition, ProducerSnapshotRecord]:
    its = ProducerSnapshot(90, 70, 70, ProducerIdentity(7, 0), stored)
    return {TP: ProducerSnapshotRecord(topic_partition=TP, remote_topic="us.orders", snapshot=its)}


@pytest.mark.parametrize(
    ("stored", "snapshots", "start"),
    [
        ([50], [snapshot(50)], 90),
        ([50, 80], [snapshot(80), snapshot(80)], 90),  # a predecessor has stored 80 in between
        ([50, 60, 80], [snapshot(55), snapshot(80), snapshot(80)], 90),  # and is quick
        ([50, 50], [snapshot(80), snapshot(80)], 50),  # another program's
        ([50, 51, 52, 53, 54], [snapshot(80)] * 5, 54),  # that keeps writing
    ],
)
def test_offsets_and_snapshots_that_do_not_fit_are_read_until_nothing_is_new(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stored: list[int],
    snapshots: list[dict[TopicPartition, ProducerSnapshotRecord]],
    start: int,
) -> None:
    monkeypatch.setattr(module, "stored_offsets", lambda *_: {TP: StoredOffset(stored.pop(0))})
    monkeypatch.setattr(module, "read_snapshots", lambda *_: snapshots.pop(0))

    client = ClusterClient(ClusterConfig(alias="us", bootstrap_servers=()), client_id="test")
    found = module.read_resume_points(Reader(tmp_path)(BASE).flows[0], client, client).found

    assert found[TP].start == start
    assert not stored
    assert not snapshots
