"""Finds out whether offsets between our transactions are another writer's records or repeated markers.

    ours │ marker │ marker │ ours    a coordinator repeats the markers of an ended transaction after a
                                     failover or a lost response (KAFKA-19999), unknown to the producer
    ours │ marker │ record │ ours    another program writes to the remote topic

So the records of a small gap are read before a foreign writer is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from heliograph.client.fetch.log_range import records_in
from heliograph.client.net.cluster import ClusterClient
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.counted import counted
from heliograph.errors import ClientError

log = logging.getLogger(__name__)

#: A coordinator does not repeat more markers than this between two batches of ours.
_MARKERS = 10
_EVERY_SECONDS = 2.0
#: A gap that could not be read after this many attempts is reported as foreign.
_LOOKS = 10


def note_foreign_records(flow: str, copy: Partition, others: int, before: int) -> None:
    if not copy.foreign:
        log.warning(
            "%s: %s: another program also writes to this topic: %s before offset %d are not ours; "
            "mirroring continues, but the topic is no longer a copy of %s (logged once per epoch)",
            flow,
            copy.target,
            counted(others, "record"),
            before,
            copy.source,
        )
    copy.find_foreign(others)


@dataclass(slots=True)
class _Suspicion:
    copy: Partition
    gap: range  # downstream
    others: int  # offsets that are not our own markers
    looks: int = 0


class ForeignWriterDetector:
    """Part of one copy loop, for its thread. `found(copy, records, end)` is called with the number of foreign
    records before `end`."""

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
            log.debug("%s; reading the gap again later", e)
            records = {}
        for key, suspicion in looked.items():
            suspicion.looks += 1
            if key not in records and suspicion.looks < _LOOKS:
                continue
            self._suspicions.remove(suspicion)
            if others := records.get(key, suspicion.others):
                self._found(suspicion.copy, others, suspicion.gap.stop)
