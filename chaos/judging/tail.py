"""Follows both sides: the newest record of each partition, and how long a target did not move.

A pause is the time in which a partition of the target did not move although its source had more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from confluent_kafka import Consumer, TopicPartition

from chaos.record import decode
from harness.cluster_side import QUIET

#: (topic, partition) by the source's names.
Where = tuple[str, int]
_TICK_SECONDS = 0.1


class Tail:
    """Reads committed records as they arrive; `newest` has the highest sequence number of each partition."""

    def __init__(self, bootstrap: str, topics: Mapping[str, str], partitions: int) -> None:
        """`topics`: the source's name by the name on this cluster."""
        self._topics = dict(topics)
        self.newest: dict[Where, int] = {
            (name, p): -1 for name in topics.values() for p in range(partitions)
        }
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "chaos-tail",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                **QUIET,
            }
        )
        self._consumer.assign(
            [TopicPartition(topic, p, 0) for topic in topics for p in range(partitions)]
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="tail", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while not self._stop.is_set():
            for message in self._consumer.consume(1_000, 0.1):
                identity = None if message.error() else decode(message.value())
                if identity is not None:
                    where = (self._topics[message.topic()], message.partition())
                    self.newest[where] = max(self.newest[where], identity.sequence)
        self._consumer.close()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


class Pauses:
    """Computes the longest pause from repeated looks at both sides."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._reached: dict[Where, int] = {}
        self._since: dict[Where, float] = {}

    def look(self, now: float, source: Mapping[Where, int], target: Mapping[Where, int]) -> None:
        for where, reached in target.items():
            self.longest = max(self.longest, now - self._since.setdefault(where, now))
            if reached > self._reached.get(where, -1) or source[where] <= reached:
                self._since[where] = now
            self._reached[where] = reached


class Watch:
    """Looks ten times a second, in its own thread."""

    def __init__(self, source: Tail, target: Tail) -> None:
        self._source = source
        self._target = target
        self.pauses = Pauses()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(_TICK_SECONDS):
            # The target first: records that the source gets between the two looks must not count as missing.
            target = dict(self._target.newest)
            self.pauses.look(time.monotonic(), dict(self._source.newest), target)

    def reached(self, goal: Mapping[Where, int]) -> bool:
        return all(self._target.newest[where] >= number for where, number in goal.items())

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._target.close()
