"""The thread that logs changes of state of partitions, a line each, and adds them and gaps to the time line.

It looks once a second at what tasks have reported. A state that lasts shorter may not be seen; the tasks' own
log has its cause.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from heliograph.model import Gap, PartitionState, Receipt, TopicPartition
from heliograph.plan.gap_verdict import describe
from heliograph.runtime.events import EventKind, Severity
from heliograph.runtime.problems import Problems, summed_up

log = logging.getLogger(__name__)

STATES_AREA = "states of partitions"
_EFFECT = "log and time line miss changes of state; the copy goes on"
_SECONDS = 1.0
_CLOSE_SECONDS = 2.0
_STATES = {
    PartitionState.RETRYING: (Severity.WARNING, logging.WARNING, "retrying"),
    PartitionState.FAILED: (Severity.ERROR, logging.ERROR, "failed"),
}
_Key = tuple[str, str, int]


class StateWatch:
    """`receipts` gives the newest one of each partition, `gaps` the last few gaps of all, by flow."""

    def __init__(
        self,
        receipts: Callable[[], Iterable[Receipt]],
        gaps: Callable[[], Iterable[tuple[str, TopicPartition, Gap]]],
        problems: Problems,
    ) -> None:
        self._receipts = receipts
        self._gaps = gaps
        self._problems = problems
        self._events = problems.events
        self._seen: dict[_Key, Receipt] = {}
        self._gaps_seen: set[tuple[str, TopicPartition, Gap]] = set()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="states", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def look(self) -> None:
        """Once; for any thread."""
        with self._lock:
            self._note_states()
            self._note_gaps()

    def _run(self) -> None:
        while not self._over.wait(_SECONDS):
            try:
                self.look()
            except Exception as e:  # noqa: BLE001 - a problem
                self._problems.unexpected(STATES_AREA, e, _EFFECT)
            else:
                self._problems.update(STATES_AREA, {})

    def _note_states(self) -> None:
        seen: dict[_Key, Receipt] = {}
        worse: dict[tuple[str, PartitionState], dict[str, str]] = {}
        better: dict[str, dict[str, str]] = {}
        for receipt in self._receipts():
            key = receipt.flow, receipt.topic, receipt.partition
            seen[key] = receipt
            before = self._seen.get(key)
            # An unchanged receipt is the same object.
            if before is receipt or receipt.state is _state(before):
                continue
            name = f"{receipt.topic}-{receipt.partition}"
            if receipt.state in _STATES:
                sentence = f"{name}: {receipt.error or 'no cause was reported'}"
                worse.setdefault((receipt.flow, receipt.state), {})[name] = sentence
            elif _state(before) in _STATES:
                better.setdefault(receipt.flow, {})[name] = f"{name}: copied again"
        self._seen = seen
        for (flow, state), found in worse.items():
            severity, level, word = _STATES[state]
            for line in summed_up(found):
                self._add(flow, f"{word}: {line}", severity, level)
        for flow, found in better.items():
            for line in summed_up(found):
                self._add(flow, line, Severity.INFO, logging.INFO)

    def _add(self, flow: str, line: str, severity: Severity, level: int) -> None:
        log.log(level, "flow %s: %s", flow, line)
        self._events.add(EventKind.PARTITION, f"flow {flow}", line, severity)

    def _note_gaps(self) -> None:
        """They are logged where they are found. Those of earlier services come from the state topic, with the
        time when they were found."""
        found = set(self._gaps())
        for flow, partition, gap in sorted(found - self._gaps_seen, key=lambda each: each[2].at_ms):
            sentence = f"{partition}: {describe(gap)}"
            at_ms = gap.at_ms or None
            self._events.add(EventKind.GAP, f"flow {flow}", sentence, Severity.ERROR, at_ms=at_ms)
        self._gaps_seen = found


def _state(receipt: Receipt | None) -> PartitionState:
    return PartitionState.RUNNING if receipt is None else receipt.state
