"""What tasks are given of the clusters: how to reach them, and their keys and certificates."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from heliograph.client.security.credential_bundle import Shipment, carries_secrets
from heliograph.config.mirror_config import FlowSetup
from heliograph.spark.session import ClusterSpark, LocalSpark

log = logging.getLogger(__name__)

_FILES_SECONDS = 5.0


class TaskSetups:
    """Of one epoch after the other. What is in files, tasks get as it is when theirs begins."""

    def __init__(self, spark: LocalSpark | ClusterSpark) -> None:
        self._spark = spark
        self._shipment = Shipment()
        self._next_look = 0.0
        self._said = False  # that secrets travel in the clear

    def pack(self, setups: Sequence[FlowSetup]) -> list[FlowSetup]:
        self._tell_of_secrets(setups)
        self._shipment.begin()
        pack = self._shipment.pack
        return [
            replace(
                setup,
                source=pack(setup.source),
                target=pack(setup.target),
                offsets=pack(setup.offsets),
            )
            for setup in setups
        ]

    def outdated(self) -> bool:
        """Whether files have changed since; looked at every few seconds. Running tasks have the old ones."""
        if time.monotonic() <= self._next_look:
            return False
        self._next_look = time.monotonic() + _FILES_SECONDS
        return self._shipment.stale()

    def _tell_of_secrets(self, setups: Iterable[FlowSetup]) -> None:
        clusters = [cluster for each in setups for cluster in (each.source, each.target)]
        if not self._said and not self._spark.encrypts and any(map(carries_secrets, clusters)):
            self._said = True
            log.warning(
                "Spark does not encrypt what it sends to its executors, and passwords and keys of the "
                "clusters are among it: set spark.authenticate and spark.network.crypto.enabled, or trust "
                "that network (docs/security.md)"
            )
