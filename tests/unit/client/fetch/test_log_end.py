"""The end of a target's log decides what is mirrored again, so every header is checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from heliograph.client.admin.topics import EARLIEST
from heliograph.client.fetch import log_end
from heliograph.client.fetch.log_end import LastBatches, Wanted, log_ends
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import LastBatch, ProducerIdentity, TopicPartition
from heliograph.wire.fetch import FetchedPartition
from support.brokers.scripted import ScriptedCluster
from support.records.batch_oracle import Row, with_fields, write
from support.records.java_batches import BATCHES

TP = TopicPartition("us.orders", 0)
OURS = ProducerIdentity(42, 3)
BATCH = bytes(write([Row(70 + n, 1_700_000_000_000, b"k", b"v", []) for n in range(3)]))


def scanned(records: bytes) -> tuple[LastBatches, LogReader]:
    found = LastBatches({TP: Wanted(OURS, -1)}, {TP: 77})
    reader = LogReader(cast(ClusterClient, ScriptedCluster({})), found.read)
    reader.positions = {TP: 70}
    reader.take(FetchedPartition(*TP, 0, 77, 77, 0, [], memoryview(records)))
    return found, reader


def test_the_last_batch_of_the_producer_is_found() -> None:
    found, _ = scanned(BATCH)

    assert found.last == {TP: LastBatch(OURS, 10, BATCH, 73)}


@pytest.mark.parametrize("name", ["magic0-none", "magic1-lz4"])
def test_old_messages_are_nobodys(name: str) -> None:
    found, reader = scanned(BATCH + BATCHES[name])

    assert (found.last, reader.positions) == ({TP: LastBatch(OURS, 10, BATCH, 73)}, {TP: 76})


@pytest.mark.parametrize(
    "records",
    [
        BATCH[:-1] + b"!",
        bytes(with_fields(BATCH, magic=3)),
        bytes(with_fields(BATCH, last=-7)),
        bytes(with_fields(BATCH, base=2**63 - 2)),
    ],
)
def test_a_damaged_batch_says_nothing_and_is_told_of(records: bytes) -> None:
    found, reader = scanned(records)

    assert found.last == reader.positions == {}
    assert str(TP) in reader.unreadable[TP]


@pytest.mark.parametrize("end", [80, 98])
def test_behind_others_records_the_last_batch_is_sought_before_the_offset_or_the_end(
    monkeypatch: pytest.MonkeyPatch, end: int
) -> None:
    """A log that ended before the offset, with others' records at its end, was not searched: newer records in
    the place of lost ones went unnoticed, and were doubled (simulation: everything 4950)."""
    runs: list[int] = []

    class Reader:
        unreadable: dict[TopicPartition, str] = {}  # noqa: RUF012 - stays empty

        def __init__(self, *_: object) -> None:
            pass

        def run(self, starts: dict[TopicPartition, int], patience: float) -> set[TopicPartition]:
            runs.extend(starts.values())
            return set()

    def offsets(_: object, partitions: Iterable[TopicPartition], which: int) -> Any:
        return dict.fromkeys(partitions, 0 if which == EARLIEST else end), {}

    monkeypatch.setattr(log_end, "LogReader", Reader)
    monkeypatch.setattr(log_end, "available_offsets", offsets)
    cluster: Any = None
    log_ends(cluster, {TP: Wanted(OURS, 99)})

    assert runs == [end - 1, end - 64]
