"""The clusters of a configuration, to be looked at: a client for each, opened when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from heliograph.client.cluster import ClusterClient
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ClientError

T = TypeVar("T")

#: A person waits.
_TIMEOUT_SECONDS = 10.0


class Clusters:
    """A cluster that does not answer is asked once, and named in `unreachable`; others can be told of."""

    def __init__(self, config: MirrorConfig, *, client_id: str) -> None:
        self.unreachable: dict[str, str] = {}
        self._config = config
        self._client_id = client_id
        self._clients: dict[str, ClusterClient] = {}
        self._errors: dict[str, ClientError] = {}

    def client(self, alias: str) -> ClusterClient:
        """Raises ClientError if no broker of it answers."""
        if alias in self._errors:
            raise self._errors[alias]
        if alias not in self._clients:
            client = ClusterClient(
                self._config.cluster(alias), client_id=self._client_id, timeout=_TIMEOUT_SECONDS
            )
            self._clients[alias] = client
            self._greet(alias, client)
        return self._clients[alias]

    def forget_errors(self) -> None:
        """Before another look: what did not answer is asked again."""
        for alias in self._errors:
            self._clients.pop(alias).close()
        self._errors, self.unreachable = {}, {}

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _greet(self, alias: str, client: ClusterClient) -> None:
        try:
            client.refresh([])
        except ClientError as e:
            self._errors[alias] = e
            self.unreachable[alias] = str(e)
            raise


class Parts:
    """What can be told of a flow part by part: `unknown` says which parts could not be looked at, and why."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    def tell(self, part: str, look: Callable[[], T], otherwise: T) -> T:
        try:
            return look()
        except ClientError as e:
            self.unknown[part] = str(e)
            return otherwise
