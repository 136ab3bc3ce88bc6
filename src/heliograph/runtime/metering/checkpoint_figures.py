"""What a checkpoint connector has done with groups, for metrics."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping

from heliograph.measured import Stopwatch
from heliograph.metrics.snapshot import GroupFigures
from heliograph.metrics.windows import Counted, Spread, Window
from heliograph.sync.checkpoints import Emitted
from heliograph.sync.followed_groups import FollowedGroups
from heliograph.sync.group_offsets import GroupSync

_NUMBER = re.compile(r"-?\d+")


class CheckpointFigures:
    """Written by the connector's thread, read by any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followed: int | None = None
        self._not_followed: Mapping[str, int] = {}
        self._untranslated: Mapping[str, int] = {}
        self._offsets: Mapping[tuple[str, str], int] = {}
        self.checkpoints = 0
        self._inexact: Mapping[str, int] = {}
        self._latencies: dict[tuple[str, str, int], tuple[Stopwatch, Window]] = {}

    def followed(self, found: FollowedGroups) -> None:
        reasons = [*found.passed_over.values(), *("cannot be read" for _ in found.problems)]
        with self._lock:
            self._followed = len(found.followed)
            self._not_followed = _by_reason(reasons)

    def emitted(self, emitted: Emitted, now: float, seconds: float) -> None:
        """`seconds`: how long it took."""
        reasons = [why for its in emitted.untranslated.values() for why in its.values()]
        with self._lock:
            self.checkpoints += emitted.checkpoints
            self._untranslated = _by_reason(reasons)
            self._inexact = dict(emitted.inexact)
            for each in emitted.written:
                key = (each.group, each.topic, each.partition)
                watch, window = self._latencies.setdefault(key, (Stopwatch(), Window()))
                watch.note(seconds)
                window.note(Counted(latencies=watch.take()), now)

    def synced(self, synced: GroupSync) -> None:
        decisions = [
            ("kept" if each.offset is None else "committed", _without_numbers(each.reason))
            for each in synced.decisions
        ]
        with self._lock:
            self._offsets = Counter(decisions)

    def read(self, groups: Iterable[str] | None, now: float) -> GroupFigures:
        """`groups`: those that are followed; the series of others vanish."""
        known = set(groups or ())
        with self._lock:
            self._latencies = {k: its for k, its in self._latencies.items() if k[0] in known}
            latencies: dict[tuple[str, str, int], Spread] = {
                key: window.latencies(now) for key, (_, window) in self._latencies.items()
            }
            return GroupFigures(
                followed=self._followed,
                not_followed=self._not_followed,
                untranslated=self._untranslated,
                offsets=self._offsets,
                checkpoints=self.checkpoints,
                inexact=self._inexact,
                latencies=latencies,
            )


def _by_reason(sentences: Iterable[str]) -> Mapping[str, int]:
    return Counter(map(_without_numbers, sentences))


def _without_numbers(sentence: str) -> str:
    """A reason is a label: one series of it, whatever offsets it names."""
    return _NUMBER.sub("N", sentence)
