"""Opens a client for each cluster of a configuration when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ClientError
from heliograph.model import ClusterConfig

T = TypeVar("T")

#: Short, since a person waits for the answer.
_TIMEOUT_SECONDS = 10.0


class Clusters:
    """A cluster that does not respond is tried once, and listed in `unreachable` with the reason."""

    def __init__(self, config: MirrorConfig, *, client_id: str) -> None:
        self.unreachable: dict[str, str] = {}
        self._config = config
        self._client_id = client_id
        self._clients: dict[ClusterConfig, ClusterClient] = {}
        self._errors: dict[ClusterConfig, ClientError] = {}

    def client(self, alias: str, flow: str) -> ClusterClient:
        """A client with the logins of this flow (or pair). Raises ClientError if no broker responds."""
        config = self._config.cluster(alias, flow)
        if config in self._errors:
            raise self._errors[config]
        if config not in self._clients:
            client = ClusterClient(config, client_id=self._client_id, timeout=_TIMEOUT_SECONDS)
            self._clients[config] = client
            self._connect(client)
        return self._clients[config]

    def forget_errors(self) -> None:
        """Tries clusters that did not respond again, at the next use."""
        for config in self._errors:
            self._clients.pop(config).close()
        self._errors, self.unreachable = {}, {}

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _connect(self, client: ClusterClient) -> None:
        try:
            client.refresh([])
        except ClientError as e:
            self._errors[client.config] = e
            self.unreachable[client.config.alias] = str(e)
            raise


class Parts:
    """Observes a flow part by part. `unknown`: the parts that could not be observed, with the reason."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    def observe(self, part: str, read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except ClientError as e:
            self.unknown[part] = str(e)
            return otherwise
