"""Produce (versions 8 and 12) and Fetch (version 11) as bytes, as our client sends them by hand.

The layouts are those of `wire/produce.py` and `wire/fetch.py`. A flexible body begins with the tags of the
request's or response's header.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from heliograph.model import TopicPartition
from heliograph.wire import fetch, flexible, produce
from heliograph.wire.primitives import I32, Reader, compact_string, string, unsigned_varint
from simulation.model.cluster import Cluster
from simulation.model.partition_log import Appended

_PRODUCE_HEAD = struct.Struct(">hi")  # acks · timeoutMs
_PRODUCED = struct.Struct(">ihqqq")  # partition · error · base offset · append time · log start
_PRODUCED_REST = struct.pack(">ih", 0, -1)  # no record errors · no message
_FLEXIBLE_REST = b"\x01\x00\x00"  # the same, and no tags
_FETCH_HEAD = struct.Struct(">iiiibii")
_FETCH_ENTRY = struct.Struct(">iiqqi")
_FETCHED = struct.Struct(">ihqqqi")
_ABORTED = struct.Struct(">qq")
_NO_SESSION = struct.pack(">ihi", 0, 0, 0)  # throttle time, error, session id
_NO_REPLICA = I32.pack(-1)
_NO_TAGS = b"\x00"


class ProduceBody(NamedTuple):
    transactional_id: str | None
    batches: dict[TopicPartition, bytes]


class FetchWanted(NamedTuple):
    partition: TopicPartition
    leader_epoch: int
    offset: int
    max_bytes: int


def carry_out(cluster: Cluster, node: int, key: int, version: int, body: bytes) -> bytes:
    """One request of the copy loop by one broker: the body of its response."""
    if key == produce.API_KEY:
        transactional_id, batches = read_produce(body, version)
        answers = cluster.produce(node, batches, transactional_id=transactional_id, version=version)
        return write_produced(answers, version)
    assert (key, version) == (fetch.API_KEY, fetch.VERSION), (key, version)
    committed, wanted = read_fetch(body)
    return write_fetched(cluster, node, wanted, committed=committed)


def read_produce(body: bytes, version: int) -> ProduceBody:
    if version == produce.VERSION_WITH_TRANSACTIONS_2:
        return _read_flexible(body)
    reader = Reader(memoryview(body))
    transactional_id = reader.nullable_string()
    reader.unpack(_PRODUCE_HEAD)
    batches = {}
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition = TopicPartition(topic, reader.i32())
            batches[partition] = bytes(reader.take(reader.i32()))
    return ProduceBody(transactional_id, batches)


def _read_flexible(body: bytes) -> ProduceBody:
    transactional_id, at = flexible.nullable_string(body, flexible.skip_tags(body, 0))
    topics, at = flexible.count(body, at + _PRODUCE_HEAD.size)
    batches = {}
    for _ in range(topics):
        topic, at = flexible.string(body, at)
        partitions, at = flexible.count(body, at)
        for _ in range(partitions):
            (index,) = I32.unpack_from(body, at)
            size, at = flexible.count(body, at + I32.size)
            batches[TopicPartition(topic, index)] = body[at : at + size]
            at = flexible.skip_tags(body, at + size)
        at = flexible.skip_tags(body, at)
    return ProduceBody(transactional_id, batches)


def write_produced(answers: Mapping[TopicPartition, Appended], version: int) -> bytes:
    compact = version == produce.VERSION_WITH_TRANSACTIONS_2
    topics = []
    by_topic = groupby(sorted(answers.items()), key=lambda each: each[0].topic)
    for topic, its in by_topic:
        entries = [
            _PRODUCED.pack(partition.partition, error, base, -1, -1 if error else 0)
            + (_FLEXIBLE_REST if compact else _PRODUCED_REST)
            for partition, (error, base) in its
        ]
        joined = b"".join(entries)
        if compact:
            head = compact_string(topic) + unsigned_varint(len(entries) + 1)
            topics.append(head + joined + _NO_TAGS)
        else:
            topics.append(string(topic) + I32.pack(len(entries)) + joined)
    throttle = I32.pack(0)
    if compact:
        count = unsigned_varint(len(topics) + 1)
        return _NO_TAGS + count + b"".join(topics) + throttle + _NO_TAGS
    return I32.pack(len(topics)) + b"".join(topics) + throttle


def read_fetch(body: bytes) -> tuple[bool, list[FetchWanted]]:
    """Whether under read_committed, and what is wanted. There are no sessions: each request names all."""
    reader = Reader(memoryview(body))
    isolation = reader.unpack(_FETCH_HEAD)[4]
    wanted = []
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition, epoch, offset, _, most = reader.unpack(_FETCH_ENTRY)
            wanted.append(FetchWanted(TopicPartition(topic, partition), epoch, offset, most))
    return bool(isolation), wanted


def write_fetched(
    cluster: Cluster, node: int, wanted: Iterable[FetchWanted], *, committed: bool
) -> bytes:
    topics = [
        string(each.partition.topic) + I32.pack(1) + _fetched(cluster, node, each, committed)
        for each in wanted
    ]
    return _NO_SESSION + I32.pack(len(topics)) + b"".join(topics)


def _fetched(cluster: Cluster, node: int, wanted: FetchWanted, committed: bool) -> bytes:
    found = cluster.fetch(
        node,
        wanted.partition,
        wanted.offset,
        committed=committed,
        leader_epoch=wanted.leader_epoch,
        max_bytes=wanted.max_bytes,
    )
    log = cluster.log(wanted.partition)
    ends = (-1, -1, -1)
    if log is not None and not found.error:
        ends = (log.high_watermark, log.last_stable, log.start)
    aborted = -1 if found.aborted is None else len(found.aborted)
    head = _FETCHED.pack(wanted.partition.partition, found.error, *ends, aborted)
    transactions = b"".join(_ABORTED.pack(*each) for each in found.aborted or ())
    return head + transactions + _NO_REPLICA + I32.pack(len(found.records)) + found.records
