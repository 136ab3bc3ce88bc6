"""Requests to the REST API of a mirror's workers."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from heliograph.operator.api import ApiError
from heliograph.operator.connectors import RestCall
from heliograph.operator.objects import REST_PORT

_SECONDS = 60.0


class WorkerRest:
    """`address` is that of any worker's pod: it forwards what only the leader may do."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}:{REST_PORT}"

    def connectors(self) -> dict[str, Any]:
        """Information and status of every connector, by name."""
        found = self.send(RestCall("GET", "/connectors?expand=info&expand=status"))
        return dict(found) if isinstance(found, dict) else {}

    def send(self, call: RestCall) -> Any:
        """Raises ApiError."""
        request = urllib.request.Request(
            self._url + call.path,
            method=call.method,
            data=None if call.body is None else json.dumps(call.body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                text = answer.read()
        except urllib.error.HTTPError as e:
            with e:
                raise ApiError(
                    f"{call}: {e.code}: {e.read()[:500].decode(errors='replace')}"
                ) from None
        except (OSError, http.client.HTTPException) as e:
            raise ApiError(f"{call}: {self._url} does not answer: {e}") from None
        return json.loads(text) if text else None
