"""Fills the source topic of a shape, once, before measurements."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import cycle, islice

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.brokers import Side
from benchmarks.errors import BenchmarkError
from benchmarks.measures.compaction import LOADING_CONFIGS, compact
from benchmarks.shapes import Shape, key_stream, value_pool
from harness.cluster_side import QUIET, LogEnds

_IN_FLIGHT_BYTES = 64 * 1024 * 1024
_FLUSH_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The content of a source topic. `payload_bytes`: values, uncompressed, without keys."""

    topic: str
    records: int
    payload_bytes: int


def load(side: Side, shape: Shape) -> Loaded:
    """Creates a topic of the shape's name and fills it."""
    side.create(shape.name, shape.partitions, LOADING_CONFIGS if shape.keys else {})
    payload = _produce(side, shape, shape.name)
    written = LogEnds(side, shape.name).total()
    if written != shape.records:
        raise BenchmarkError(f"{shape.name}: wrote {shape.records} records, found {written}")
    if shape.keys is None:
        return Loaded(topic=shape.name, records=shape.records, payload_bytes=payload)
    compact(side, shape.name, shape.partitions)
    records, payload = count(side, shape)
    return Loaded(topic=shape.name, records=records, payload_bytes=payload)


def _produce(side: Side, shape: Shape, topic: str) -> int:
    """Writes `shape.records` records in full batches; returns the bytes of all values.

    A whole batch goes to one partition before the next: round robin over many partitions would send whatever
    has gathered when `linger.ms` is over.
    """
    producer = Producer(
        {
            "bootstrap.servers": side.bootstrap,
            **QUIET,
            "compression.type": shape.compression,
            "batch.size": shape.batch_bytes,
            "batch.num.messages": 1_000_000,
            "linger.ms": 50,
            "queue.buffering.max.messages": 2_000_000,
            "acks": "all",
        }
    )
    values = cycle(value_pool(shape))
    keys = key_stream(shape)
    run = shape.records_per_batch
    in_flight = _IN_FLIGHT_BYTES // shape.value_bytes[1]
    payload, left = 0, shape.records
    for partition in cycle(range(shape.partitions)):
        for value in islice(values, min(run, left)):
            key = None if keys is None else b"%d-%07d" % (partition, next(keys))
            producer.produce(topic, value, key, partition)
            payload += len(value)
        left -= min(run, left)
        while len(producer) > in_flight:
            producer.poll(0.01)
        if not left:
            break
    if producer.flush(_FLUSH_SECONDS):
        raise BenchmarkError(f"{topic}: {len(producer)} records were not acknowledged")
    return payload


def count(side: Side, shape: Shape) -> tuple[int, int]:
    """Reads the whole topic; returns the number of records and the bytes of their values."""
    consumer = Consumer(
        {
            "bootstrap.servers": side.bootstrap,
            **QUIET,
            "group.id": "benchmark-count",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(shape.name, number, 0) for number in range(shape.partitions)])
    records = payload = ends = 0
    deadline = time.monotonic() + _FLUSH_SECONDS
    try:
        while ends < shape.partitions:
            if time.monotonic() > deadline:
                raise BenchmarkError(
                    f"{shape.name}: not read to its end within {_FLUSH_SECONDS:.0f} s"
                )
            for message in consumer.consume(10_000, 0.2):
                if message.error() is not None:
                    ends += 1  # with these settings, the only error is the end of a partition
                else:
                    records += 1
                    payload += len(message.value())
    finally:
        consumer.close()
    return records, payload


def warm(side: Side, shape: Shape) -> None:
    """Lets a new broker's JVM compile, and its internal topics be created, before the first run."""
    side.create(shape.name, shape.partitions)
    _produce(side, shape, shape.name)
    consumer = Consumer(
        {
            "bootstrap.servers": side.bootstrap,
            **QUIET,
            "group.id": "benchmark-warm",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.subscribe([shape.name])
        left, deadline = shape.records, time.monotonic() + _FLUSH_SECONDS
        while left > 0 and time.monotonic() < deadline:
            left -= len(consumer.consume(10_000, 0.2))
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
