"""A cluster that answers from a script, for what no broker at hand does: old versions, refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from heliograph.client.net.cluster import Metadata
from heliograph.model import ClusterConfig

Answer = Callable[[Any], Any]


def reply(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


class ScriptedCluster:
    """Takes the place of a ClusterClient. `answers` maps a request's name to what makes its response;
    `versions` to the version that the brokers agree on. `asked` keeps the requests."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        *,
        versions: Mapping[str, int] | None = None,
        nodes: Sequence[int] = (1,),
    ) -> None:
        self.config = ClusterConfig(alias="scripted", bootstrap_servers=("localhost:1",))
        self.metadata = Metadata(nodes={node: ("localhost", node) for node in nodes})
        self.asked: list[tuple[int | None, Any]] = []
        self._answers = answers
        self._versions = versions or {}

    def stopped(self) -> bool:
        return False

    def refresh(self, topics: Sequence[str] | None = None) -> Metadata:
        return self.metadata

    def call_any(self, request: Any) -> Any:
        return self._answer(None, request)

    def call_any_all(self, requests: Sequence[Any]) -> list[Any]:
        return [self._answer(None, request) for request in requests]

    def call_controller(self, request: Any) -> Any:
        return self._answer(None, request)

    def call(self, node: int, request: Any) -> Any:
        return self._answer(node, request)

    def call_all(self, node: int, requests: Sequence[Any]) -> list[Any]:
        return [self._answer(node, request) for request in requests]

    def _answer(self, node: int | None, request: Any) -> Any:
        newest = request._max_version if request._max_version is not None else request.max_version
        request.API_VERSION = self._versions.get(request.name, newest)
        self.asked.append((node, request))
        answer = self._answers[request.name](request)
        if isinstance(answer, Exception):
            raise answer
        return answer
