"""The producers of a copy loop: one for records, another for offsets if those are on another cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.connection import Connection
from heliograph.client.net.poller import wait
from heliograph.client.produce.producer import Producer
from heliograph.copy.cluster_retry import ClusterRetry

_WAIT_SECONDS = 0.1


class Producers:
    """`options` are those of the producer for records, which may be transactional."""

    def __init__(
        self,
        make: Callable[..., Producer],
        target: ClusterClient,
        remote_topics: AbstractSet[str],
        stored_on: ClusterClient,
        offsets_topic: str,
        **options: Any,
    ) -> None:
        together = stored_on is target
        self.records = make(
            target, remote_topics | {offsets_topic} if together else remote_topics, **options
        )
        self.offsets = self.records if together else make(stored_on, {offsets_topic})
        self._all = [self.records] if together else [self.records, self.offsets]

    def send(self, reach: ClusterRetry) -> None:
        for producer in self._all:
            reach(producer.cluster, producer.send)

    def refresh(self, reach: ClusterRetry) -> None:
        for producer in self._all:
            reach(producer.cluster, lambda its=producer: its.cluster.refresh(its.topics))  # type: ignore[misc]

    def pump(self) -> None:
        for producer in self._all:
            producer.pump()

    def connections(self) -> list[Connection]:
        return [each for producer in self._all for each in producer.connections()]

    @property
    def idle(self) -> bool:
        return all(producer.idle for producer in self._all)

    def drain(self, send: Callable[[], None], deadline: float) -> None:
        """Send and receive until everything is acknowledged or the deadline has passed.

        The stop that ended the copy does not interrupt it: the leader of the offsets topic may need a new
        connection, with a TLS handshake and a login.
        """
        for producer in self._all:
            producer.cluster.stopped = lambda: time.monotonic() >= deadline
        while not self.idle and time.monotonic() < deadline:
            send()
            wait(self.connections(), _WAIT_SECONDS)
            self.pump()
