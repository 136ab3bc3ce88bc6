"""Writes records that carry their send time, or reads them and notes the time of arrival.

    python benchmarks/measures/latency_client.py produce BOOTSTRAP TOPIC RATE
    python benchmarks/measures/latency_client.py consume BOOTSTRAP TOPIC FILE

Each runs in a process of its own until SIGTERM. A record's value begins with (send time in ns i64, number
i64). The consumer then writes FILE: triples of 64-bit integers, number, send time and time of arrival,
machine order.
"""

from __future__ import annotations

import gc
import signal
import struct
import sys
import time
from array import array
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

_STAMP = struct.Struct(
    ">q"  # send time, nanoseconds since 1970
    "q"  #  number, from 0
)
_VALUE_BYTES = 1000
_IDLE_SECONDS = 0.0005


def produce(bootstrap: str, topic: str, rate: int, stopped: Callable[[], bool]) -> None:
    """Sends at an even pace, over all partitions in turn. Catches up at once after a delay."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": "all", "log_level": 2}
    )
    partitions = cycle(sorted(producer.list_topics(topic, timeout=30).topics[topic].partitions))
    filler = b"x" * (_VALUE_BYTES - _STAMP.size)
    number, start = 0, time.monotonic()
    while not stopped():
        due = int((time.monotonic() - start) * rate)
        while number < due:
            stamp = _STAMP.pack(time.time_ns(), number)
            producer.produce(topic, stamp + filler, partition=next(partitions))
            number += 1
        producer.poll(0)
        time.sleep(_IDLE_SECONDS)
    producer.flush(30)


def consume(bootstrap: str, topic: str, file: Path, stopped: Callable[[], bool]) -> None:
    """One record at a time: `consume(n, timeout)` would hold records back until it has n of them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "benchmark-latency",
            "enable.auto.commit": False,
            "fetch.min.bytes": 1,
            "log_level": 2,
        }
    )
    seen = array("q")
    if partitions := _wait_for_topic(consumer, topic, stopped):
        consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    while not stopped():
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        sent, number = _STAMP.unpack_from(message.value())
        seen.extend((number, sent, time.time_ns()))
    consumer.close()
    with file.open("wb") as out:
        seen.tofile(out)


def _wait_for_topic(consumer: Consumer, topic: str, stopped: Callable[[], bool]) -> int:
    while not stopped():
        found = consumer.list_topics(topic, timeout=30).topics.get(topic)
        if found is not None and found.error is None:
            return len(found.partitions)
        time.sleep(0.05)
    return 0


def main(arguments: list[str]) -> None:
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    gc.disable()  # a collection would count as latency

    def stopped() -> bool:
        return bool(signals)

    job, bootstrap, topic, last = arguments
    if job == "produce":
        produce(bootstrap, topic, int(last), stopped)
    else:
        consume(bootstrap, topic, Path(last), stopped)


if __name__ == "__main__":
    main(sys.argv[1:])
