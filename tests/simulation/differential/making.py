"""Produce and Fetch requests of a sequence."""

from __future__ import annotations

import struct
from typing import Any

from fastcrc import crc32
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.producer import ProduceRequest

from heliograph.model import ProducerIdentity
from heliograph.records.batch import ATTRIBUTES_AT, CONTROL
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from simulation.differential import operations as op
from simulation.differential.side import Side

_CRC_AT, _LAST_DELTA_AT = 17, 23


def produce_request(operation: op.Produce, side: Side) -> Any:
    producer = side.identity(operation.slot, operation.epoch_change)
    topic_entry = ProduceRequest.TopicProduceData
    data = [
        topic_entry.PartitionProduceData(
            index=side.partitions[batch.partition].partition,
            records=batch_bytes(batch, producer, operation.transactional, side.now_ms),
        )
        for batch in operation.batches
    ]
    return ProduceRequest(
        transactional_id=side.transactional_id(operation.id_of),
        acks=-1,
        timeout_ms=30_000,
        topic_data=[topic_entry(name=side.partitions[0].topic, partition_data=data)],
        max_version=operation.version,
    )


def batch_bytes(
    batch: op.Batch, producer: ProducerIdentity, transactional: bool, now_ms: int
) -> bytes:
    """Values tell records apart: the sequence, and the number in the batch."""
    size = op.MAX_MESSAGE_BYTES if batch.defect == "size" else batch.count * 3
    records = [
        Record(
            timestamp=now_ms - batch.age_ms,
            key=None,
            value=f"{batch.sequence}+{number}".encode().ljust(size),
        )
        for number in range(batch.count)
    ]
    data = encode(
        records,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        sequence=batch.sequence if producer.producer_id >= 0 else -1,
        transactional=transactional,
    )
    return bytes(_with_defect(data, batch.defect))


def _with_defect(data: bytearray, defect: str) -> bytearray:
    if defect == "base":
        struct.pack_into(">q", data, 0, 7)
    elif defect == "crc":
        data[-1] ^= 0xFF
    elif defect in ("control", "count"):
        if defect == "control":
            data[ATTRIBUTES_AT + 1] |= CONTROL
        else:
            struct.pack_into(">i", data, _LAST_DELTA_AT, 99)
        struct.pack_into(">I", data, _CRC_AT, crc32.iscsi(memoryview(data)[ATTRIBUTES_AT:]))
    return data


def fetch_request(operation: op.Fetch, side: Side) -> Any:
    """By version 11, as our fetcher does, at once and without a session."""
    topic, number = side.partitions[operation.partition]
    topic_entry = FetchRequest.FetchTopic
    entry = topic_entry.FetchPartition(
        partition=number,
        current_leader_epoch=side.epoch(operation.partition, operation.current),
        fetch_offset=operation.offset,
        log_start_offset=-1,
        partition_max_bytes=operation.max_bytes,
    )
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=50 << 20,
        isolation_level=int(operation.committed),
        session_id=0,
        session_epoch=-1,
        topics=[topic_entry(topic=topic, partitions=[entry])],
        forgotten_topics_data=[],
        rack_id="",
        max_version=11,
    )
