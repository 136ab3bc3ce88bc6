"""Records with numbers as values, and what of them is on the target: lost and doubled.

Counted by confluent-kafka, which shares no code with the mirror.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition

from containers.errors import LabError
from harness.cluster_side import QUIET, ClusterSide
from harness.pace import Pace

_PATIENCE_SECONDS = 180.0
_TICK_SECONDS = 0.02


def machine_address() -> str:
    """The address of this machine that containers reach: that of the interface with the default route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        return str(probe.getsockname()[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    written: int
    lost: int
    doubled: int

    @property
    def exact(self) -> bool:
        return not self.lost and not self.doubled


class NumberedLoad:
    """Writes the numbers 0, 1, 2 … to one topic at a rate, on a thread, until `stop`."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, rate: float) -> None:
        self._topic, self._partitions, self._rate = topic, partitions, rate
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, **QUIET}
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, name="load", daemon=True)
        self.written = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        left = self._producer.flush(60)
        if left:
            raise LabError(f"load: {left} records were not acknowledged by the source")
        return self.written

    def _write(self) -> None:
        pace = Pace(self._rate)
        while not self._stop.is_set():
            for _ in range(int(pace.owed())):
                value = str(self.written)
                self._producer.produce(
                    self._topic, value, partition=self.written % self._partitions
                )
                self.written += 1
                pace.spend(1)
            self._producer.poll(0)
            time.sleep(_TICK_SECONDS)


def count(side: ClusterSide, bootstrap: str, topic: str, written: int) -> Count:
    """Waits until as many records as were written are on the target, and reads them all. Records that come
    more than once make up for lost ones only in number, so that the values are compared."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        found = read(side, bootstrap, topic)
        lost = written - len(found)
        if not lost or time.monotonic() > deadline:
            doubled = sum(found.values()) - len(found)
            return Count(written=written, lost=lost, doubled=doubled)
        time.sleep(1)


def read(side: ClusterSide, bootstrap: str, topic: str) -> Counter[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "counting",
            "enable.auto.commit": False,
            **QUIET,
        }
    )
    found: Counter[bytes] = Counter()
    try:
        for number in range(side.partitions(topic)):
            start, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=60)
            consumer.assign([TopicPartition(topic, number, start)])
            at = start
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while at < end:
                if time.monotonic() > deadline:
                    raise LabError(f"{topic}-{number}: offset {at} of {end} cannot be read")
                for message in consumer.consume(5000, timeout=5):
                    if message.error() is None:
                        found[message.value() or b""] += 1
                        at = (message.offset() or 0) + 1
    finally:
        consumer.close()
    return found
