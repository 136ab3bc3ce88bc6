"""Handlers of /, /health and /openapi.json, and of requests between Java's workers. Upstream:
RootResource."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from heliograph import __version__
from heliograph.config.connectors.plugins import KAFKA_VERSION
from heliograph.connect.herder import Herder
from heliograph.web.exchange import Refused, RestRequest, RestResponse, ok

_ALGORITHM = "HmacSHA256"


class Root:
    def __init__(self, herder: Herder, document: Callable[[], dict[str, Any]]) -> None:
        """`document` gives the OpenAPI document."""
        self._herder = herder
        self._document = document

    def server(self, call: RestRequest) -> RestResponse:
        """`version` is the version of Kafka whose API this is; `commit` has Heliograph's version."""
        return ok(
            {
                "version": KAFKA_VERSION,
                "commit": f"heliograph-{__version__}",
                "kafka_cluster_id": self._herder.kafka_cluster_id(),
            }
        )

    def health(self, call: RestRequest) -> RestResponse:
        waiting_for = self._herder.ready()
        if waiting_for is None:
            message = "Worker has completed startup and is ready to handle requests."
            return ok({"status": "healthy", "message": message})
        message = f"Worker is still starting up. {waiting_for}"
        return RestResponse(status=503, content={"status": "starting", "message": message})

    def openapi(self, call: RestRequest) -> RestResponse:
        return ok(self._document())

    def internal_tasks(self, call: RestRequest) -> RestResponse:
        try:
            json.loads(call.entity())
        except ValueError as e:
            raise Refused(
                400, f"Request body: expected a list of task configurations, but {e}"
            ) from None
        return self.internal_fence(call)

    def internal_fence(self, call: RestRequest) -> RestResponse:
        """Java's workers sign requests to each other. Heliograph's workers send none, so that every signature
        is invalid."""
        signature = call.headers.get("x-connect-authorization")
        algorithm = call.headers.get("x-connect-request-signature-algorithm")
        if signature is None or algorithm is None:
            raise Refused(400, "Internal request missing required signature")
        if algorithm != _ALGORITHM:
            raise Refused(400, f"Algorithm {algorithm} not available")
        raise Refused(403, "Internal request contained invalid signature.")
