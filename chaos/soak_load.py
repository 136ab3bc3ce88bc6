"""The writer of the soak, a process of its own, and the log ends of both sides.

python -m chaos.soak_load BOOTSTRAP TOPIC PARTITIONS BYTES_PER_SECOND
"""

from __future__ import annotations

import random
import signal
import sys
import threading
import time

from confluent_kafka import Producer

from harness.cluster_side import QUIET, ClusterSide, LogEnds
from harness.pace import Pace

_VALUE_BYTES = 4_000
_VALUES = 256
_TICK_SECONDS = 0.05
_TIMEOUT_SECONDS = 30.0


class Ends:
    """The log ends of a topic and its copy."""

    def __init__(self, source: str, target: str, topic: str, remote: str) -> None:
        self._source = LogEnds(ClusterSide(lambda: source), topic)
        self._target = LogEnds(ClusterSide(lambda: target), remote)
        self.written = 0

    def line(self) -> str:
        written, copied = self._look()
        return f"{written:,} records written, {written - copied:,} to come"

    def await_equal(self, seconds: float) -> int:
        """The number of records that are missing on the target in the end."""
        deadline = time.monotonic() + seconds
        while (ends := self._look())[0] != ends[1] and time.monotonic() < deadline:
            time.sleep(0.5)
        return ends[0] - ends[1]

    def _look(self) -> tuple[int, int]:
        # The target first, so that it is never ahead of its source.
        copied, self.written = self._target.total(), self._source.total()
        return self.written, copied


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
    pace, number = Pace(rate), 0
    while not stop.is_set():
        for _ in range(int(pace.owed() // _VALUE_BYTES)):
            number += 1
            try:
                producer.produce(topic, values[number % _VALUES], partition=number % partitions)
            except BufferError:
                break
            pace.spend(_VALUE_BYTES)
        producer.poll(0)
        time.sleep(_TICK_SECONDS)
    producer.flush(_TIMEOUT_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
