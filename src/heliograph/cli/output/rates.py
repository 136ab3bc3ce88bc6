"""Records and bytes per second of each topic."""

from __future__ import annotations

import time
from collections import deque

from heliograph.runtime.progress import TopicProgress

_WINDOW_SECONDS = 4.0


class Rates:
    """Over several samples: tasks report less often, once a second."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, dict[tuple[str, str], tuple[int, int]]]] = deque()

    def sample(self, topics: list[TopicProgress]) -> list[tuple[TopicProgress, float, float]]:
        now = time.monotonic()
        self._samples.append((now, {(t.flow, t.topic): (t.records, t.bytes) for t in topics}))
        while len(self._samples) > 2 and self._samples[1][0] < now - _WINDOW_SECONDS:
            self._samples.popleft()
        then, before = self._samples[0]
        seconds = max(now - then, 1e-6)
        rates = []
        for topic in topics:
            records, size = before.get((topic.flow, topic.topic), (0, 0))
            rates.append(
                (topic, (topic.records - records) / seconds, (topic.bytes - size) / seconds)
            )
        return rates
