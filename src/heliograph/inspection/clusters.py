"""The clusters of a configuration, to be looked at: a client for each, opened when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ClientError
from heliograph.model import ClusterConfig

T = TypeVar("T")

#: A person waits.
_TIMEOUT_SECONDS = 10.0


class Clusters:
    """A cluster that does not answer is asked once, and named in `unreachable`; others can be reported of."""

    def __init__(self, config: MirrorConfig, *, client_id: str) -> None:
        self.unreachable: dict[str, str] = {}
        self._config = config
        self._client_id = client_id
        self._clients: dict[ClusterConfig, ClusterClient] = {}
        self._errors: dict[ClusterConfig, ClientError] = {}

    def client(self, alias: str, flow: str) -> ClusterClient:
        """As the flow (or pair) of this name reaches it. Raises ClientError if no broker of it answers."""
        config = self._config.cluster(alias, flow)
        if config in self._errors:
            raise self._errors[config]
        if config not in self._clients:
            client = ClusterClient(config, client_id=self._client_id, timeout=_TIMEOUT_SECONDS)
            self._clients[config] = client
            self._greet(client)
        return self._clients[config]

    def forget_errors(self) -> None:
        """Before another look: what did not answer is asked again."""
        for config in self._errors:
            self._clients.pop(config).close()
        self._errors, self.unreachable = {}, {}

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _greet(self, client: ClusterClient) -> None:
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

    def observe(self, part: str, look: Callable[[], T], otherwise: T) -> T:
        try:
            return look()
        except ClientError as e:
            self.unknown[part] = str(e)
            return otherwise
