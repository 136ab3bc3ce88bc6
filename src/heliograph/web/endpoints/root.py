"""/ and /health (`RootResource`), the API's own description, and what only workers say to each other."""

from __future__ import annotations

import json

from heliograph import __version__
from heliograph.config.connectors.plugins import KAFKA_VERSION
from heliograph.connect.herder import Herder
from heliograph.web.endpoints.openapi import document
from heliograph.web.exchange import Refused, RestRequest, RestResponse, ok
from heliograph.web.routing import Route

_ALGORITHM = "HmacSHA256"


class Root:
    def __init__(self, herder: Herder) -> None:
        self._herder = herder

    def routes(self) -> list[Route]:
        return [
            Route(template="/", method="GET", handler=self.server, consumes=False),
            Route(template="/health", method="GET", handler=self.health, consumes=False),
            Route(template="/openapi.json", method="GET", handler=self.openapi, consumes=False),
            Route(template="/connectors/{connector}/tasks", method="POST", handler=internal_tasks),
            Route(template="/connectors/{connector}/fence", method="PUT", handler=internal_fence),
        ]

    def server(self, call: RestRequest) -> RestResponse:
        """`version` is that of the Kafka whose API this is; ours stands in place of its commit."""
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
        return ok(document())


def internal_tasks(call: RestRequest) -> RestResponse:
    try:
        json.loads(call.entity())
    except ValueError as e:
        raise Refused(
            400, f"Request body: expected a list of task configurations, but {e}"
        ) from None
    return internal_fence(call)


def internal_fence(call: RestRequest) -> RestResponse:
    """Java's workers sign what they tell each other. Ours have nothing to tell this way, so that no
    signature can be right."""
    signature = call.headers.get("x-connect-authorization")
    algorithm = call.headers.get("x-connect-request-signature-algorithm")
    if signature is None or algorithm is None:
        raise Refused(400, "Internal request missing required signature")
    if algorithm != _ALGORITHM:
        raise Refused(400, f"Algorithm {algorithm} not available")
    raise Refused(403, "Internal request contained invalid signature.")
