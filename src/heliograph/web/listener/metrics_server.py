"""Serves /metrics and /health on a port of their own (`metrics.listener`), without authentication and nothing
else."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable

from heliograph.config.connectors.rest import Listener, RestConfig
from heliograph.web.api import Api
from heliograph.web.endpoints.health import Health, ServiceHealth
from heliograph.web.endpoints.metrics import Metrics, Scraped
from heliograph.web.endpoints.table import HEALTH, METRICS, bound
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.server import HttpServer

_log = logging.getLogger(__name__)

#: More scrapers at a time wait, or are refused with 503.
_CONNECTIONS = 100


class MetricsServer(HttpServer):
    """`start` raises ConfigError for an address that cannot be opened."""

    def __init__(
        self,
        address: tuple[str, int],
        scrape: Scraped,
        limits: Limits | None = None,
        *,
        health: Callable[[], ServiceHealth],
    ) -> None:
        host, port = address
        listener = Listener(scheme="http", host=host, port=port)
        config = RestConfig(
            listeners=(listener,),
            allowed_hosts=("*",),  # any name: it answers the same to everyone who reaches it
            access_log=False,
            max_connections=_CONNECTIONS,
            max_connections_per_ip=_CONNECTIONS,
        )
        routes = [*bound(METRICS, Metrics(scrape)), *bound(HEALTH, Health(health))]
        api = Api(routes, ssl.create_default_context)
        super().__init__(
            config, lambda: [(listener, api, None)], limits, setting="metrics.listener"
        )

    def start(self) -> None:
        super().start()
        _log.info("metrics: %s/metrics", self.listening[0])
