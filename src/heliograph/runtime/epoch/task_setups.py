"""Prepares what tasks need to reach the clusters: addresses, settings, keys and certificates."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from heliograph.client.security.credential_bundle import CredentialBundle, carries_secrets
from heliograph.config.mirror_config import FlowSetup
from heliograph.errors import ConfigError
from heliograph.plan.spark.protection import refusal, warning
from heliograph.spark.session import ClusterSpark, LocalSpark

log = logging.getLogger(__name__)

_FILES_SECONDS = 5.0


class TaskSetups:
    """Files with keys and certificates are read at the begin of each epoch.

    `accepts_unencrypted`: whether secrets may be sent to a Spark cluster that does not encrypt them.
    """

    def __init__(self, spark: LocalSpark | ClusterSpark, *, accepts_unencrypted: bool) -> None:
        self._spark = spark
        self._accepts = accepts_unencrypted
        self._bundle = CredentialBundle()
        self._next_look = 0.0
        self._warned = False  # that secrets are sent unencrypted

    def refusal(self, setup: FlowSetup) -> str | None:
        """Why this flow's secrets may not be sent to tasks; None: they may."""
        if not _has_secrets(setup):
            return None
        return refusal(setup.flow.name, self._spark.protection, accepted=self._accepts)

    def pack(self, setups: Sequence[FlowSetup]) -> list[FlowSetup]:
        """Raises ConfigError if one of the flows is refused; then nothing is sent."""
        if refused := [why for each in setups if (why := self.refusal(each)) is not None]:
            raise ConfigError(refused)
        self._warn_of_secrets(setups)
        self._bundle.begin()
        pack = self._bundle.pack
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
        """Whether files have changed since the epoch began; checked every 5 s."""
        if time.monotonic() <= self._next_look:
            return False
        self._next_look = time.monotonic() + _FILES_SECONDS
        return self._bundle.stale()

    def _warn_of_secrets(self, setups: Sequence[FlowSetup]) -> None:
        enough = self._spark.protection.enough
        if not self._warned and not enough and any(map(_has_secrets, setups)):
            self._warned = True
            log.warning("%s", warning(self._spark.protection))


def _has_secrets(setup: FlowSetup) -> bool:
    return any(map(carries_secrets, (setup.source, setup.target, setup.offsets)))
