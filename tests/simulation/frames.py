"""The broker's half of the frames that are not kafka-python's: Produce version 8, Fetch version 11."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from heliograph.model import TopicPartition
from heliograph.wire.primitives import I32, Reader, string
from simulation.source_log import Fetched

_PRODUCE_HEAD = struct.Struct(">hhi")  # no transactional id · acks · timeoutMs
_PRODUCED = struct.Struct(">ihqqqih")  # … no record errors · no message
_FETCH_HEAD = struct.Struct(">iiiibii")
_FETCH_ENTRY = struct.Struct(">iiqqi")
_FETCHED = struct.Struct(">ihqqqi")
_ABORTED = struct.Struct(">qq")
_NO_SESSION = struct.pack(">ihi", 0, 0, 0)  # throttle time, error, session id
_NO_REPLICA = I32.pack(-1)


class Ends(NamedTuple):
    """Of a partition, as a fetch tells them."""

    high_watermark: int
    last_stable: int
    start: int


class Wanted(NamedTuple):
    partition: TopicPartition
    leader_epoch: int
    offset: int


def read_produce(body: bytes) -> list[tuple[TopicPartition, bytes]]:
    reader = Reader(memoryview(body))
    reader.unpack(_PRODUCE_HEAD)
    batches = []
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition = reader.i32()
            batches.append((TopicPartition(topic, partition), bytes(reader.take(reader.i32()))))
    return batches


def write_produced(answers: Iterable[tuple[TopicPartition, int, int]]) -> bytes:
    """Of (partition, error, base offset)."""
    topics = []
    for topic, its in groupby(answers, key=lambda each: each[0].topic):
        entries = [_PRODUCED.pack(p.partition, error, base, -1, 0, 0, -1) for p, error, base in its]
        topics.append(string(topic) + I32.pack(len(entries)) + b"".join(entries))
    return I32.pack(len(topics)) + b"".join(topics) + I32.pack(0)


def read_fetch(body: bytes) -> tuple[bool, list[Wanted]]:
    """Whether under read_committed, and what is wanted. There are no sessions: each request names all."""
    reader = Reader(memoryview(body))
    isolation = reader.unpack(_FETCH_HEAD)[4]
    wanted = []
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition, epoch, offset, _, _ = reader.unpack(_FETCH_ENTRY)
            wanted.append(Wanted(TopicPartition(topic, partition), epoch, offset))
    return bool(isolation), wanted


def write_fetched(answers: Iterable[tuple[TopicPartition, Fetched, Ends]]) -> bytes:
    topics = [
        string(partition.topic) + I32.pack(1) + _fetched(partition, fetched, ends)
        for partition, fetched, ends in answers
    ]
    return _NO_SESSION + I32.pack(len(topics)) + b"".join(topics)


def _fetched(partition: TopicPartition, fetched: Fetched, ends: Ends) -> bytes:
    aborted = -1 if fetched.aborted is None else len(fetched.aborted)
    head = _FETCHED.pack(partition.partition, fetched.error, *ends, aborted)
    transactions = b"".join(_ABORTED.pack(*each) for each in fetched.aborted or ())
    return head + transactions + _NO_REPLICA + I32.pack(len(fetched.records)) + fetched.records
