"""What tasks are given of the clusters: how to reach them, and their keys and certificates."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from heliograph.client.security.credential_bundle import CredentialBundle, carries_secrets
from heliograph.config.mirror_config import FlowSetup
from heliograph.errors import ConfigError
from heliograph.plan.spark_protection import refusal, warning
from heliograph.spark.session import ClusterSpark, LocalSpark

log = logging.getLogger(__name__)

_FILES_SECONDS = 5.0


class TaskSetups:
    """Of one epoch after the other. What is in files, tasks get as it is when theirs begins.

    `accepts_unencrypted`: whether secrets may go to a Spark cluster that does not protect them.
    """

    def __init__(self, spark: LocalSpark | ClusterSpark, *, accepts_unencrypted: bool) -> None:
        self._spark = spark
        self._accepts = accepts_unencrypted
        self._shipment = CredentialBundle()
        self._next_look = 0.0
        self._said = False  # that secrets travel unprotected

    def refusal(self, setup: FlowSetup) -> str | None:
        """Why this flow's tasks may not be given what they need; None: they may."""
        if not _has_secrets(setup):
            return None
        return refusal(setup.flow.name, self._spark.protection, accepted=self._accepts)

    def pack(self, setups: Sequence[FlowSetup]) -> list[FlowSetup]:
        """Raises ConfigError if one of them is refused: nothing of any goes out then."""
        if refused := [why for each in setups if (why := self.refusal(each)) is not None]:
            raise ConfigError(refused)
        self._warn_of_secrets(setups)
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

    def _warn_of_secrets(self, setups: Sequence[FlowSetup]) -> None:
        if not self._said and not self._spark.protection.enough and any(map(_has_secrets, setups)):
            self._said = True
            log.warning("%s", warning(self._spark.protection))


def _has_secrets(setup: FlowSetup) -> bool:
    return any(map(carries_secrets, (setup.source, setup.target, setup.offsets)))
