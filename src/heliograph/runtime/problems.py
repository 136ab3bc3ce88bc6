"""Current problems: logged when they appear and when they are resolved, and listed for `status` and REST."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from heliograph.client.admin.coordinators import MOVING
from heliograph.errors import BrokerError, ClientError
from heliograph.runtime.events import EventKind, EventLog, Severity
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: Brokers answer with these while they elect a leader or a coordinator; clients simply ask again.
_ELECTING = MOVING | {ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NOT_LEADER_OR_FOLLOWER}
#: A problem that is expected to pass is logged if it lasts longer.
_PASSING_SECONDS = 10.0
#: Stands for the sentence of all passing problems of an area.
_PASSING = ""
#: A problem that lasts is logged again after this time, so that the end of a log shows it.
_REMIND_SECONDS = 600.0
#: Beginnings of areas that belong to no flow: each flow's status lists them, too.
_OF_THE_SERVICE = ("metrics", "page", "states")
#: Of sentences that differ only in their subject, this many are logged; the others are counted.
_ALIKE = 3


def is_passing(error: ClientError) -> bool:
    """Whether brokers solve it by themselves within seconds, as at the first start on a new cluster."""
    return isinstance(error, BrokerError) and error.code in _ELECTING


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
    """Each area (a job of a flow) owns its problems: subject -> sentence. For several threads.

    `events`: the time line, to which those who report problems also add other changes."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, events: EventLog | None = None
    ) -> None:
        self._clock = clock
        self.events = events or EventLog()
        self._areas: dict[str, dict[str, str]] = {}
        self._logged: dict[tuple[str, str], float] = {}
        self._passing_since: dict[str, float] = {}
        self._unexpected: Counter[str] = Counter()
        self._stacks_logged: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def update(self, area: str, found: Mapping[str, str], *, passing: bool = False) -> None:
        """Set all problems of an area; earlier ones that are not in `found` are resolved. `passing`: brokers
        solve them; one of them is logged if they last for 10 s."""
        with self._lock:
            before = self._areas.get(area, {})
            self._areas[area] = dict(found)
            over = {subject: before[subject] for subject in before.keys() - found.keys()}
            over = self._forget_logged(area, over, none_left=not found)
            if not passing:
                self._passing_since.pop(area, None)
            due = self._due_if_lasting(area, found) if passing else self._due(area, found)
        for line in summed_up(due):
            log.warning("%s: %s", area, line)
            self.events.add(EventKind.PROBLEM, area, line, Severity.WARNING)
        for line in summed_up(over):
            log.info("%s: resolved: %s", area, line)
            self.events.add(EventKind.RESOLVED, area, line)

    def unexpected(self, area: str, error: BaseException, effect: str = "") -> None:
        """An error for which there is no code: the only problem of its area until `update` has none. It is
        counted, and its stack logged if it is another one, or the last was logged ten minutes ago."""
        sentence = f"unexpected failure: {type(error).__name__}: {error}"
        sentence = f"{sentence}; {effect}" if effect else sentence
        with self._lock:
            self._unexpected[area] += 1
            now, key = self._clock(), (area, sentence)
            news = now - self._stacks_logged.get(key, -_REMIND_SECONDS) >= _REMIND_SECONDS
            if news:
                self._stacks_logged = {
                    k: at for k, at in self._stacks_logged.items() if k[0] != area
                }
                self._stacks_logged[key] = now
        if news:
            log.error("%s: stack of the unexpected failure", area, exc_info=error)
        self.update(area, {"": sentence})

    def unexpected_counts(self) -> dict[str, int]:
        """Unexpected failures since the start, by area."""
        with self._lock:
            return dict(self._unexpected)

    def _forget_logged(
        self, area: str, over: Mapping[str, str], *, none_left: bool
    ) -> dict[str, str]:
        """Those that were logged, whose end is worth a line, too."""
        told = self._logged.pop((area, _PASSING), None) is not None if none_left else False
        logged = {
            subject: sentence
            for subject, sentence in over.items()
            if told or (area, sentence) in self._logged
        }
        for sentence in over.values():
            self._logged.pop((area, sentence), None)
        return logged

    def _due_if_lasting(self, area: str, found: Mapping[str, str]) -> dict[str, str]:
        """One line for all: while brokers elect, they answer now with this error, now with that."""
        now = self._clock()
        lasts = now - self._passing_since.setdefault(area, now)
        last = self._logged.get((area, _PASSING), -_REMIND_SECONDS)
        if not found or lasts < _PASSING_SECONDS or now - last < _REMIND_SECONDS:
            return {}
        self._logged[area, _PASSING] = now
        subject, sentence = next(iter(found.items()))
        return {subject: f"{sentence} (for {lasts:.0f} s)"}

    def _due(self, area: str, found: Mapping[str, str]) -> dict[str, str]:
        """Those to be logged now."""
        now = self._clock()
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

    def lasting(self) -> list[str]:
        """As `sentences`, without those that brokers are expected to solve within seconds."""
        now = self._clock()
        with self._lock:
            young = {
                area
                for area, since in self._passing_since.items()
                if now - since < _PASSING_SECONDS
            }
        return [
            f"{area}: {sentence}"
            for area, found in self.areas().items()
            if area not in young
            for sentence in found.values()
        ]

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

    def of_flow(self, name: str) -> dict[str, str]:
        """Those that `status` lists for a flow: its own, and those of the whole service."""
        found = self.below(f"flow {name}")
        for prefix in _OF_THE_SERVICE:
            found |= self.below(prefix)
        return found

    def sentences(self) -> list[str]:
        """Every problem, with its area before it."""
        return [
            f"{area}: {sentence}"
            for area, found in self.areas().items()
            for sentence in found.values()
        ]
