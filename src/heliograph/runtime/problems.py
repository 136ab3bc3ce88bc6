"""Current problems: logged when they appear and when they are resolved, and listed for `status` and REST."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping

log = logging.getLogger(__name__)


#: A problem that lasts is logged again after this time, so that the end of a log shows it.
_REMIND_SECONDS = 600.0
#: Of sentences that differ only in their subject, this many are logged; the others are counted.
_ALIKE = 3


def summed_up(found: Mapping[str, str]) -> Iterator[str]:
    """Log lines for sentences by subject, few enough for a log: a starting cluster may have the same problem
    with each of thousands of partitions or groups."""
    kinds: dict[str, list[str]] = {}
    for subject, sentence in found.items():
        kind = sentence.replace(subject, "…") if subject else sentence
        kinds.setdefault(kind, []).append(sentence)
    for kind, alike in kinds.items():
        yield from alike[:_ALIKE]
        if len(alike) > _ALIKE:
            yield f"and {len(alike) - _ALIKE:,} more like it: {kind}"


class Problems:
    """Each area (a job of a flow) owns its problems: subject -> sentence. For several threads."""

    def __init__(self) -> None:
        self._areas: dict[str, dict[str, str]] = {}
        self._logged: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def update(self, area: str, found: Mapping[str, str]) -> None:
        """Set all problems of an area; earlier ones that are not in `found` are resolved."""
        with self._lock:
            before = self._areas.get(area, {})
            self._areas[area] = dict(found)
            over = {subject: before[subject] for subject in before.keys() - found.keys()}
            due = self._due(area, found, over)
        for line in summed_up(due):
            log.warning("%s: %s", area, line)
        for line in summed_up(over):
            log.info("%s: resolved: %s", area, line)

    def _due(self, area: str, found: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
        """Those to be logged now."""
        now = time.monotonic()
        for sentence in over.values():
            self._logged.pop((area, sentence), None)
        due = {
            subject: sentence
            for subject, sentence in found.items()
            if now - self._logged.get((area, sentence), -_REMIND_SECONDS) >= _REMIND_SECONDS
        }
        self._logged |= {(area, sentence): now for sentence in due.values()}
        return due

    def forget(self, prefix: str) -> None:
        """Drop an area and those below it: this service no longer runs them. Problems that come back later
        are logged again."""
        with self._lock:
            for area in [a for a in self._areas if a == prefix or a.startswith(f"{prefix}:")]:
                del self._areas[area]
                self._logged = {key: at for key, at in self._logged.items() if key[0] != area}

    def areas(self) -> dict[str, dict[str, str]]:
        with self._lock:
            return {area: dict(found) for area, found in self._areas.items() if found}

    def below(self, prefix: str) -> dict[str, str]:
        """Area and subject -> sentence, for the areas whose names start with `prefix`."""
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
