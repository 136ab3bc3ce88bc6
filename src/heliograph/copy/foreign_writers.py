"""Who has written between our transactions: a stranger, or a coordinator that repeats itself.

    ours │ marker │ marker │ ours    a coordinator writes the markers of an ended transaction once more if it
                                     takes over, or got no answer (KAFKA-19999); nobody tells the producer
    ours │ marker │ record │ ours    somebody else writes to the remote topic

So a small gap is looked at before anybody is told of strangers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from heliograph.client.fetch.log_range import records_in
from heliograph.client.net.cluster import ClusterClient
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import ClientError

log = logging.getLogger(__name__)

#: More than that no coordinator writes again between two batches of ours.
_MARKERS = 10
_EVERY_SECONDS = 2.0
#: A gap that could not be looked at so often counts as a stranger's.
_LOOKS = 10


def note_foreign_records(flow: str, copy: Partition, others: int, before: int) -> None:
    if not copy.foreign:
        log.warning(
            "%s: %s: somebody else writes to it, too: %d records before offset %d are not ours; the "
            "mirror goes on, but is no copy of %s any more (said once per epoch)",
            flow,
            copy.target,
            others,
            before,
            copy.source,
        )
    copy.find_foreign(others)


@dataclass(slots=True)
class _Suspicion:
    copy: Partition
    gap: range  # downstream
    others: int  # what of it our own markers do not explain
    looks: int = 0


class ForeignWriterDetector:
    """Of one link; its thread's. `found(copy, records, end)`: so many of others stand before `end`."""

    def __init__(
        self, probe_client: ClusterClient, found: Callable[[Partition, int, int], None]
    ) -> None:
        self._probe_client = probe_client
        self._found = found
        self._suspicions: list[_Suspicion] = []
        self._next = 0.0

    def suspect(self, copy: Partition, foreign: Foreign) -> None:
        others = len(foreign.gap) - foreign.markers
        if others > _MARKERS:
            self._found(copy, others, foreign.gap.stop)
        else:
            self._suspicions.append(_Suspicion(copy, foreign.gap, others))

    def due(self, now: float) -> bool:
        return bool(self._suspicions) and now >= self._next

    def look(self, now: float) -> None:
        self._next = now + _EVERY_SECONDS
        # One gap of a partition at a time.
        looked = {each.copy.target: each for each in reversed(self._suspicions)}
        try:
            records = records_in(
                self._probe_client, {key: each.gap for key, each in looked.items()}
            )
        except ClientError as e:
            log.debug("%s; looking again", e)
            records = {}
        for key, suspicion in looked.items():
            suspicion.looks += 1
            if key not in records and suspicion.looks < _LOOKS:
                continue
            self._suspicions.remove(suspicion)
            if others := records.get(key, suspicion.others):
                self._found(suspicion.copy, others, suspicion.gap.stop)
