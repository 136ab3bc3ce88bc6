"""MM2's own records, byte for byte as the real classes write and read them."""

from __future__ import annotations

import random

import pytest

from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.heartbeat import Heartbeat, read_heartbeat
from heliograph.mm2.offset_sync import OffsetSync, read_offset_sync
from support.java.oracle import Oracle

_COUNT = 400
_READERS = {
    "offset-sync": read_offset_sync,
    "checkpoint": read_checkpoint,
    "heartbeat": read_heartbeat,
}
#: ASCII, the limits of UTF-8's lengths, letters of several scripts, and one beyond the BMP.
_ALPHABET = "abcXYZ019._- \x00\x7f\x80äßπЖ中\uffff\U0001f600\"'\\{},="

Own = OffsetSync | Checkpoint | Heartbeat


def text(chance: random.Random, longest: int = 40) -> str:
    return "".join(chance.choices(_ALPHABET, k=chance.randint(0, longest)))


def number(chance: random.Random, bits: int = 63) -> int:
    """All sizes alike; -1 and the other negative ones, too, since readers may meet them."""
    magnitude = chance.getrandbits(chance.randint(0, bits))
    return -magnitude - 1 if chance.random() < 0.1 else magnitude


def record(chance: random.Random) -> Own:
    match chance.choice(list(_READERS)):
        case "offset-sync":
            return OffsetSync(text(chance), number(chance, 31), number(chance), number(chance))
        case "checkpoint":
            return Checkpoint(
                *(text(chance), text(chance), number(chance, 31)),
                *(number(chance), number(chance), text(chance, 300)),
            )
        case _:
            return Heartbeat(text(chance), text(chance), number(chance))


def kind(own: Own) -> str:
    return {OffsetSync: "offset-sync", Checkpoint: "checkpoint", Heartbeat: "heartbeat"}[type(own)]


@pytest.fixture(scope="module")
def records() -> list[Own]:
    chance = random.Random(20261115)
    longest = "n" * 32767  # of a STRING, in bytes
    return [
        OffsetSync("topic-1", 2, 3, 4),
        Checkpoint("group-1", "topic-2", 3, 4, 5, "metadata-6"),
        Heartbeat("source-1", "target-2", 1234567890),
        Checkpoint(longest, "t", 0, 2**63 - 1, -(2**63), "ä" * 16383),
        *(record(chance) for _ in range(_COUNT)),
    ]


def test_java_writes_the_same_bytes_and_words(oracle: Oracle, records: list[Own]) -> None:
    """OffsetSyncTest, CheckpointTest, HeartbeatTest: testSerde, with random content"""
    written = oracle.ask("serialise", records=[[kind(own), *own] for own in records])

    ours = [[own.key().hex(), own.value().hex(), str(own)] for own in records]
    assert ours == written


def test_java_reads_ours_and_we_read_ours(oracle: Oracle, records: list[Own]) -> None:
    hexed = [[kind(own), own.key().hex(), own.value().hex()] for own in records]

    assert oracle.ask("deserialise", records=hexed) == [str(own) for own in records]
    assert [_READERS[kind(own)](own.key(), own.value()) for own in records] == records
