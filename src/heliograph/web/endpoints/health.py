"""Handler of /health beside /metrics: whether the service is ready, and which of its flows run here.

A standby is as healthy as the service that runs: probes must keep it. Which of the two it is, is told in
`groups`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heliograph.web.exchange import RestRequest, RestResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHealth:
    """`waits_for`: why the service is not ready; None: it is. `groups`: its place in the group of each
    flow's workers, such as running or standby."""

    waits_for: str | None
    groups: Mapping[str, str] = field(default_factory=dict)


class Health:
    def __init__(self, look: Callable[[], ServiceHealth]) -> None:
        self._look = look

    def json(self, call: RestRequest) -> RestResponse:
        found = self._look()
        ready = found.waits_for is None
        content = {
            "status": "healthy" if ready else "starting",
            "message": "The service is ready." if ready else found.waits_for,
            "groups": dict(found.groups),
        }
        return RestResponse(status=200 if ready else 503, content=content)
