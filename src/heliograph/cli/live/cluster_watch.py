"""Asks every broker of some clusters whether it answers, so that a frozen one is seen within 3 seconds.

The copy itself cannot tell: a fetch that a frozen broker leaves unanswered looks like one without records.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable

from heliograph.cli.live.screen import ClusterHealth
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import ClientError
from heliograph.model import ClientKind, ClusterConfig
from heliograph.wire import messages

_EVERY_SECONDS = 0.5
#: Silence is shown long before; a timeout would make other clients of this process doubt their connections.
_TIMEOUT_SECONDS = 10.0
#: Each costs a connection.
_MOST_BROKERS = 24


class ClusterWatch:
    """A thread for each cluster, until `stop` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._watched: dict[tuple[str, tuple[str, ...]], _Watched] = {}

    def follow(self, clusters: Iterable[ClusterConfig]) -> None:
        """Watch these from now on, and no others."""
        wanted = {(each.alias, each.bootstrap_servers): each for each in clusters}
        for key in self._watched.keys() - wanted.keys():
            self._watched.pop(key).over.set()
        for key, cluster in wanted.items():
            if key not in self._watched:
                self._watched[key] = _Watched(cluster, self._stop)

    def health(self) -> tuple[ClusterHealth, ...]:
        return tuple(each.health() for each in self._watched.values())


class _Watched:
    def __init__(self, cluster: ClusterConfig, stop: threading.Event) -> None:
        self.over = threading.Event()
        self._alias = cluster.alias
        self._stop = stop
        self._reached = False
        self._asked_at: float | None = None  # the request that waits for an answer
        self._failing_since: float | None = None
        self._error = ""
        self._client = ClusterClient(
            cluster.for_client(ClientKind.ADMIN),
            client_id="heliograph-live-view",
            timeout=_TIMEOUT_SECONDS,
            stopped=lambda: stop.is_set() or self.over.is_set(),
        )
        name = f"live view of {cluster.alias}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def health(self) -> ClusterHealth:
        since, asked_at = self._failing_since, self._asked_at
        began = since if since is not None else asked_at
        silent = 0.0 if began is None else time.monotonic() - began
        return ClusterHealth(
            alias=self._alias, reached=self._reached, silent_seconds=silent, error=self._error
        )

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and not self.over.is_set():
                self._ask_all()
                self._stop.wait(_EVERY_SECONDS)
        finally:
            self._client.close()

    def _ask_all(self) -> None:
        began = time.monotonic()
        try:
            self._asked_at = began
            self._client.refresh([])
            self._reached = True
            for node in itertools.islice(self._client.metadata.nodes, _MOST_BROKERS):
                self._asked_at = began = time.monotonic()
                self._client.call(node, messages.MetadataRequest(topics=[], max_version=12))
            self._failing_since, self._error = None, ""
        except ClientError as e:
            self._error = str(e)
            self._failing_since = began if self._failing_since is None else self._failing_since
        finally:
            self._asked_at = None
