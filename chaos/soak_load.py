"""The soak's writer, in a process of its own, and how far both ends are.

python -m chaos.soak_load BOOTSTRAP TOPIC PARTITIONS BYTES_PER_SECOND
"""

from __future__ import annotations

import random
import signal
import sys
import threading
import time

from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from benchmarks.brokers import QUIET

_VALUE_BYTES = 4_000
_VALUES = 256
_TICK_SECONDS = 0.05
_TIMEOUT_SECONDS = 30.0


def create(bootstrap: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(_TIMEOUT_SECONDS)


class Ends:
    """The log ends of a topic and its copy."""

    def __init__(self, source: str, target: str, topic: str, remote: str, partitions: int) -> None:
        self._sides = [
            (
                AdminClient({"bootstrap.servers": bootstrap, **QUIET}),
                [TopicPartition(name, number) for number in range(partitions)],
            )
            for bootstrap, name in ((source, topic), (target, remote))
        ]
        self.written = 0

    def line(self) -> str:
        written, copied = self._look()
        return f"{written:,} records written, {written - copied:,} to come"

    def await_equal(self, seconds: float) -> int:
        """What is missing on the target in the end."""
        deadline = time.monotonic() + seconds
        while (ends := self._look())[0] != ends[1] and time.monotonic() < deadline:
            time.sleep(0.5)
        return ends[0] - ends[1]

    def _look(self) -> tuple[int, int]:
        # The target first, so that it is never ahead of its source.
        copied, written = self._end(1), self._end(0)
        self.written = written
        return written, copied

    def _end(self, side: int) -> int:
        admin, partitions = self._sides[side]
        try:
            futures = admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.latest()))
            return sum(future.result(_TIMEOUT_SECONDS).offset for future in futures.values())
        except KafkaException:  # the remote topic is not there yet
            return 0


def main(bootstrap: str, topic: str, partitions: int, rate: int) -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 20,
            "acks": "all",
            "enable.idempotence": True,
            "queue.buffering.max.kbytes": 65_536,
            **QUIET,
        }
    )
    values = [random.Random(number).randbytes(_VALUE_BYTES) for number in range(_VALUES)]
    owed, at, number = 0.0, time.monotonic(), 0
    while not stop.is_set():
        now = time.monotonic()
        owed, at = min(owed + (now - at) * rate, float(rate)), now
        while owed >= _VALUE_BYTES:
            number += 1
            try:
                producer.produce(topic, values[number % _VALUES], partition=number % partitions)
            except BufferError:
                break
            owed -= _VALUE_BYTES
        producer.poll(0)
        time.sleep(_TICK_SECONDS)
    producer.flush(_TIMEOUT_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
