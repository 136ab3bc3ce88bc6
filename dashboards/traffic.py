"""Records and group offsets on the source, all the time."""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType

from confluent_kafka import Consumer, Producer

from harness.cluster_side import QUIET
from harness.pace import Pace

_VALUE = (
    b'{"account":4711,"amount":12.34,"currency":"EUR","text":"'
    + b"a line of an order; " * 40
    + b'"}'
)
_TICK_SECONDS = 0.05
#: In each tick: 600 kB a second, and less on a busy machine.
_BURST_RECORDS, _BURST_BYTES = 30, 1_000


class Traffic:
    """`rate` records a second, over `topics`; a group reads them and commits every second. Their timestamps
    are `age` seconds old. Ends with its block."""

    def __init__(
        self, bootstrap: str, topics: tuple[str, ...], rate: float, group: str, age: float = 0.0
    ) -> None:
        self._bootstrap = bootstrap
        self._topics = topics
        self._rate = rate
        self._group = group
        self._age = age
        self._stop, self._paused, self._flushed = (threading.Event() for _ in range(3))
        self._threads = [
            threading.Thread(target=each, name=each.__name__, daemon=True)
            for each in (self._write, self._read)
        ]
        self._bursting = False
        self.failures: list[str] = []
        self.written = 0

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def burst(self, on: bool) -> None:
        """Adds records that do not compress to the steady ones: more bytes than the mirror may copy."""
        self._bursting = on

    def write(self, topic: str, value: bytes = _VALUE, count: int = 1) -> None:
        """Besides the steady ones."""
        producer = Producer({"bootstrap.servers": self._bootstrap, **QUIET})
        for _ in range(count):
            producer.produce(topic, value, on_delivery=self._delivered)
        producer.flush(60)

    def pause(self) -> None:
        """No more records; returns when all are on the source."""
        self._paused.set()
        self._flushed.wait(60)

    def _write(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "compression.type": "lz4",
                "linger.ms": 5,
                **QUIET,
            }
        )
        pace = Pace(self._rate)
        while not self._stop.is_set() and not self._paused.is_set():
            owed = int(pace.owed())
            for _ in range(owed):
                topic = self._topics[self.written % len(self._topics)]
                key, timestamp = str(self.written).encode(), int((time.time() - self._age) * 1000)
                producer.produce(
                    topic, _VALUE, key, timestamp=timestamp, on_delivery=self._delivered
                )
                self.written += 1
            pace.spend(owed)
            for _ in range(_BURST_RECORDS if self._bursting else 0):
                producer.produce(
                    self._topics[0], os.urandom(_BURST_BYTES), on_delivery=self._delivered
                )
            producer.poll(0)
            time.sleep(_TICK_SECONDS)
        producer.flush(60)
        self._flushed.set()

    def _read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._group,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 1000,
                **QUIET,
            }
        )
        consumer.subscribe(list(self._topics))
        while not self._stop.is_set():
            consumer.consume(1000, 0.2)
        consumer.close()

    def _delivered(self, error: object, _: object) -> None:
        if error is not None:
            self.failures.append(str(error))
