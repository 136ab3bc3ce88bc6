"""Runs actions that need a cluster, with a growing pause while the cluster cannot be reached."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.copy.partition import Partition
from heliograph.errors import ClientError, Interrupted
from heliograph.model import PartitionState

log = logging.getLogger(__name__)


class ClusterRetry:
    """Part of one copy loop. While a cluster cannot be reached, all partitions wait, with the cause in
    `error`. If the end of the epoch interrupts a request, `interrupted` is set and no partition changes."""

    def __init__(self, flow: str, copies: Collection[Partition]) -> None:
        self._flow = flow
        self._copies = copies
        self.interrupted = False
        self._pauses: dict[ClusterClient, tuple[float, Backoff]] = {}

    def __call__(self, cluster: ClusterClient, action: Callable[[], object]) -> None:
        """Run the action, unless the pause after the last failure is not over yet."""
        retry_at, backoff = self._pauses.get(cluster, (0.0, Backoff()))
        if time.monotonic() < retry_at:
            return
        try:
            action()
            self._pauses.pop(cluster, None)
        except Interrupted as e:
            self.interrupted = True
            self._pauses[cluster] = (time.monotonic() + backoff.next(), backoff)
            log.info("flow %s: %s", self._flow, e)
        except ClientError as e:
            delay = self.pause(cluster, backoff, str(e))
            log.warning("flow %s: %s; retrying in %.1f s", self._flow, e, delay)

    def pause(self, cluster: ClusterClient, backoff: Backoff, cause: str) -> float:
        """Send nothing to the cluster for a while; returns the seconds."""
        delay = backoff.next()
        self._pauses[cluster] = (time.monotonic() + delay, backoff)
        for copy in self._copies:
            if copy.state is PartitionState.RUNNING:
                copy.retrying(cause)
        return delay
