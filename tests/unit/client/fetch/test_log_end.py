"""What is looked at of a target's log decides what is mirrored again: nothing of it is taken on trust."""

from __future__ import annotations

import pytest

from heliograph.client.fetch.log_end import Wanted, _Scan
from heliograph.errors import Interrupted
from heliograph.model import LastBatch, ProducerIdentity, TopicPartition
from heliograph.wire.fetch import FetchedPartition
from support.brokers.scripted import ScriptedCluster
from support.records.batch_oracle import Row, with_fields, write
from support.records.java_batches import BATCHES

TP = TopicPartition("us.orders", 0)
OURS = ProducerIdentity(42, 3)
BATCH = bytes(write([Row(70 + n, 1_700_000_000_000, b"k", b"v", []) for n in range(3)]))


def scanned(records: bytes) -> _Scan:
    scan = _Scan(ScriptedCluster({}), {TP: Wanted(OURS, -1)}, {TP: 77}, left={TP: 70})
    scan._on_records(FetchedPartition(*TP, 0, 77, 77, 0, [], memoryview(records)))
    return scan


def test_the_last_batch_of_the_producer_is_found() -> None:
    assert scanned(BATCH).last == {TP: LastBatch(OURS, 10, BATCH, 73)}


@pytest.mark.parametrize("name", ["magic0-none", "magic1-lz4"])
def test_old_messages_are_nobodys(name: str) -> None:
    scan = scanned(BATCH + BATCHES[name])

    assert (scan.last, scan.left) == ({TP: LastBatch(OURS, 10, BATCH, 73)}, {TP: 76})


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
    scan = scanned(records)

    assert scan.last == scan.left == {}
    assert str(TP) in scan.unreadable[TP]


def test_a_stop_is_no_partitions_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = ScriptedCluster({})
    monkeypatch.setattr(cluster, "stopped", lambda: True)
    scan = _Scan(cluster, {TP: Wanted(OURS, -1)}, {TP: 77})

    with pytest.raises(Interrupted, match=r"us\.orders-0: stopped while its end was read"):
        scan.run({TP: 76})
