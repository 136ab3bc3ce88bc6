"""What is wrong just now: said once when it appears, once when it is gone, and there to be looked at."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping

log = logging.getLogger(__name__)


#: A problem that lasts is said again, so that a log's tail shows it.
_REMIND_SECONDS = 600.0
#: Of sentences that differ in nothing but their subject, this many are said; of the others, how many.
_ALIKE = 3


def summed_up(found: Mapping[str, str]) -> Iterator[str]:
    """Sentences by subject, short enough for a log whatever their number: a cluster that starts may have the
    same trouble with each of thousands of partitions or groups."""
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
        self._said: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def update(self, area: str, found: Mapping[str, str]) -> None:
        """All problems of an area as of now; those of before that are not in it are over."""
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
        """Those to be said now."""
        now = time.monotonic()
        for sentence in over.values():
            self._said.pop((area, sentence), None)
        due = {
            subject: sentence
            for subject, sentence in found.items()
            if now - self._said.get((area, sentence), -_REMIND_SECONDS) >= _REMIND_SECONDS
        }
        self._said |= {(area, sentence): now for sentence in due.values()}
        return due

    def forget(self, prefix: str) -> None:
        """An area, and those below it, are not ours to tell of any more. What comes back in a new term is
        said again."""
        with self._lock:
            for area in [a for a in self._areas if a == prefix or a.startswith(f"{prefix}:")]:
                del self._areas[area]
                self._said = {key: at for key, at in self._said.items() if key[0] != area}

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
