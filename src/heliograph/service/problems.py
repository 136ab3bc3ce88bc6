"""What is wrong just now: said once when it appears, once when it is gone, and there to be looked at."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

log = logging.getLogger(__name__)


#: A problem that lasts is said again, so that a log's tail shows it.
_REMIND_SECONDS = 600.0


class Problems:
    """Each area (a job of a flow) owns its problems: subject -> sentence. For several threads."""

    def __init__(self) -> None:
        self._areas: dict[str, dict[str, str]] = {}
        self._said: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def update(self, area: str, found: Mapping[str, str]) -> None:
        """All problems of an area as of now; those of before that are not in it are over."""
        with self._lock:
            before = self._areas.get(area, {})
            self._areas[area] = dict(found)
        now = time.monotonic()
        for sentence in found.values():
            if now - self._said.get((area, sentence), -_REMIND_SECONDS) >= _REMIND_SECONDS:
                self._said[area, sentence] = now
                log.warning("%s: %s", area, sentence)
        for subject in before.keys() - found.keys():
            self._said.pop((area, before[subject]), None)
            log.info("%s: fine again, where there was: %s", area, before[subject])

    def areas(self) -> dict[str, dict[str, str]]:
        with self._lock:
            return {area: dict(found) for area, found in self._areas.items() if found}

    def below(self, prefix: str) -> dict[str, str]:
        """Area and subject -> sentence, for the areas whose names start so."""
        return {
            f"{area}: {subject}" if subject else area: sentence
            for area, found in self.areas().items()
            if area.startswith(prefix)
            for subject, sentence in found.items()
        }

    def sentences(self) -> list[str]:
        """Every problem, with its area before it."""
        return [
            f"{area}: {sentence}"
            for area, found in self.areas().items()
            for sentence in found.values()
        ]
