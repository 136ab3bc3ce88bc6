"""Handler of /metrics, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from heliograph.metrics.exposition import Exposed
from heliograph.web.exchange import RestRequest, RestResponse

#: The text for an Accept header.
Scraped = Callable[[str], Exposed]


class Metrics:
    def __init__(self, scrape: Scraped) -> None:
        self._scrape = scrape

    def text(self, call: RestRequest) -> RestResponse:
        exposed = self._scrape(call.headers.get("accept", ""))
        return RestResponse(status=200, content=exposed.text, media_type=exposed.content_type)
