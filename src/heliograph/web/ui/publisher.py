"""The thread that makes the page's snapshot.

Everything else of the page reads `snapshot`: one immutable value, replaced as a whole. It is made once a
second while a page is open, else every five seconds, for its charts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.web.ui.history import History
from heliograph.web.ui.snapshot import Snapshot

PAGE_AREA = "page"
_EFFECT = "the page shows older figures; the copy goes on"
_SECONDS = 1.0
_UNWATCHED_SECONDS = 5.0
#: After the last look of a page.
_WATCHED_SECONDS = 60.0
_CLOSE_SECONDS = 2.0


class Publisher:
    def __init__(
        self,
        progress: Progress,
        problems: Problems,
        unreachable: Callable[[], Mapping[str, tuple[str, ...]]] = dict,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.snapshot = Snapshot(at_ms=_now_ms())
        self._progress = progress
        self._problems = problems
        self._unreachable = unreachable
        self._clock = clock
        self._history = History()
        self._looked_at = float("-inf")
        self._closed = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def look(self) -> Snapshot:
        """The newest snapshot; for any thread."""
        watched, self._looked_at = self._watched, self._clock()
        if not watched:
            self._wake.set()
        return self.snapshot

    @property
    def _watched(self) -> bool:
        return self._clock() < self._looked_at + _WATCHED_SECONDS

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closed:
            try:
                self.publish()
            except Exception as e:  # noqa: BLE001 - a problem
                self._problems.unexpected(PAGE_AREA, e, _EFFECT)
                # Old figures, and the problem beside them.
                self.snapshot = replace(self.snapshot, problems=self._problems.areas())
            else:
                self._problems.update(PAGE_AREA, {})
            self._wake.wait(_SECONDS if self._watched else _UNWATCHED_SECONDS)
            self._wake.clear()

    def publish(self) -> None:
        flows = self._history.take(self._clock(), self._progress.partitions())
        self.snapshot = Snapshot(
            version=self.snapshot.version + 1,
            at_ms=_now_ms(),
            epoch=self._progress.epoch,
            restarts=self._progress.restarts,
            flows=flows,
            problems=self._problems.areas(),
            unreachable=self._unreachable(),
        )


def _now_ms() -> int:
    return int(time.time() * 1000)
