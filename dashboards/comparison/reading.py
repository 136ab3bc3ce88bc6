"""An independent client on a target: when each record arrives, and how old it is by its timestamp then."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from types import TracebackType

from confluent_kafka import Consumer

from harness.cluster_side import QUIET


class Reader:
    """Reads all records of the topics; notes arrivals in milliseconds by topic and partition."""

    def __init__(self, bootstrap: str, topics: list[str]) -> None:
        self._settings = {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 5,
            "topic.metadata.refresh.interval.ms": 1000,
            **QUIET,
        }
        self._topics = topics
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)
        #: Arrival (seconds since 1970) and age (milliseconds) of each record.
        self.arrivals: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def since(self, seconds: float) -> dict[tuple[str, str], list[float]]:
        """Ages of the records that arrived in the last `seconds`."""
        least = time.time() - seconds
        return {
            key: [age for at, age in list(its) if at >= least] for key, its in self.arrivals.items()
        }

    def _run(self) -> None:
        consumer = Consumer(self._settings)
        consumer.subscribe(self._topics)
        while not self._stop.is_set():
            for message in consumer.consume(500, 0.05):
                if message.error() is None:
                    now = time.time()
                    age = now * 1000 - message.timestamp()[1]
                    self.arrivals[message.topic(), str(message.partition())].append((now, age))
        consumer.close()
