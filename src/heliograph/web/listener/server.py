"""Runs the listeners of the REST API: one thread, one event loop, a uvicorn server per address."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from heliograph.config.connectors.rest import Listener, ListenerTls, RestConfig
from heliograph.connect.herder import Herder
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import ConfigError
from heliograph.runtime.events import EventLog
from heliograph.web.api import Api
from heliograph.web.app import new_app
from heliograph.web.endpoints.connectors import Connectors
from heliograph.web.endpoints.events import Events
from heliograph.web.endpoints.loggers import Loggers, TellAll
from heliograph.web.endpoints.metrics import Metrics, Scraped
from heliograph.web.endpoints.openapi import document
from heliograph.web.endpoints.plugins import Plugins
from heliograph.web.endpoints.root import Root
from heliograph.web.endpoints.table import (
    CONNECTORS,
    EVENTS,
    LOGGERS,
    METRICS,
    PLUGINS,
    ROOT,
    bound,
)
from heliograph.web.gate import Gate
from heliograph.web.listener.accepting import AcceptingServer
from heliograph.web.listener.connections import Connections
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.tls import ClientContext, ServerContext
from heliograph.web.routing import Route
from heliograph.web.streams import Streams
from heliograph.web.ui.page import Page

_log = logging.getLogger(__name__)

_START_SECONDS = 10.0
_STOP_SECONDS = 3
#: Seconds between checks for a replaced certificate file.
_RENEW_SECONDS = 2.0


#: A listener, what it serves, and its TLS.
Served = tuple[Listener, Api, ListenerTls | None]


class HttpServer:
    """Answers from `start` to `stop`. `setting` names its addresses in errors."""

    def __init__(
        self,
        config: RestConfig,
        served: Callable[[], Sequence[Served]],
        limits: Limits | None = None,
        *,
        setting: str = "listeners",
    ) -> None:
        self._config = config
        self._served = served
        self._setting = setting
        self._limits = limits or Limits()
        self._connections = Connections(config.max_connections, config.max_connections_per_ip)
        self._gate = Gate.of(config)
        self._contexts: list[ServerContext] = []
        self._servers: list[AcceptingServer] = []
        self._thread: threading.Thread | None = None
        self.listening: list[Listener] = []

    @property
    def port(self) -> int:
        """Of the first listener, after `start`."""
        return self.listening[0].port

    def start(self) -> None:
        """Returns when every listener is open. Raises ConfigError for an address that cannot be bound."""
        for warning in self._config.warnings:
            _log.warning("%s", warning)
        sockets: list[socket.socket] = []
        try:
            for listener, api, its_tls in self._served():
                tls = self._context(listener, its_tls)
                opened = _open(listener, self._setting)
                sockets.append(opened)
                self.listening.append(_bound(listener, opened))
                self._servers.append(
                    AcceptingServer(
                        self._uvicorn_config(api, listener), tls, self._connections, self._limits
                    )
                )
        except BaseException:
            for each in sockets:
                each.close()
            raise
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(sockets, ready), name="rest", daemon=True
        )
        self._thread.start()
        ready.result(_START_SECONDS)

    def stop(self) -> None:
        """Requests in progress have 3 s to complete."""
        for server in self._servers:
            server.should_exit = True
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS + 5)
        self._gate.close()
        self._servers, self._thread = [], None

    def _context(self, listener: Listener, tls: ListenerTls | None) -> ServerContext | None:
        if listener.scheme != "https" or tls is None:
            return None
        context = ServerContext(tls)
        self._contexts.append(context)
        return context

    def _uvicorn_config(self, api: Api, listener: Listener) -> uvicorn.Config:
        return uvicorn.Config(
            new_app(api, self._config, self._gate, listener=listener, limits=self._limits),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )

    def _run(self, sockets: list[socket.socket], ready: Future[None]) -> None:
        asyncio.run(self._serve(sockets, ready))

    async def _serve(self, sockets: list[socket.socket], ready: Future[None]) -> None:
        # A thread for each request in progress: those that wait for a starting worker must not delay /health.
        current_default_thread_limiter().total_tokens = self._limits.requests
        serving = [
            asyncio.ensure_future(server.serve(sockets=[opened]))
            for server, opened in zip(self._servers, sockets, strict=True)
        ]
        while not all(server.started for server in self._servers):
            for each in serving:
                if each.done():
                    ready.set_exception(each.exception() or RuntimeError("a listener ended"))
                    return
            await asyncio.sleep(0.01)
        ready.set_result(None)
        renewing = asyncio.ensure_future(self._renew_certificates())
        try:
            await asyncio.gather(*serving)
        finally:
            renewing.cancel()

    async def _renew_certificates(self) -> None:
        while self._contexts:
            await asyncio.sleep(_RENEW_SECONDS)
            for each in self._contexts:
                await asyncio.to_thread(each.refresh)


class RestServer(HttpServer):
    """Connect's REST API. `tell_all` sets a logger's level on every worker of the cluster; `scrape` gives the
    text of /metrics; `page`: what is served at /ui, with the time line of /events."""

    def __init__(
        self,
        config: RestConfig,
        herder: Herder,
        levels: LoggerLevels,
        tell_all: TellAll,
        limits: Limits | None = None,
        *,
        scrape: Scraped | None = None,
        page: Page | None = None,
    ) -> None:
        def served() -> list[Served]:
            everything = routes(herder, config, levels, tell_all, scrape=scrape, page=page)
            main = Api(everything, _client_context(config))
            loggers = bound(LOGGERS, Loggers(levels, tell_all))
            admin = Api(loggers, _client_context(config))
            return [
                *((each, main, config.tls) for each in config.listeners),
                *((each, admin, config.admin_tls) for each in config.admin_listeners or ()),
            ]

        super().__init__(config, served, limits)
        self._page = page

    def start(self) -> None:
        """As `HttpServer.start`; logs who can reach it."""
        super().start()
        _log.info("%s", "; ".join(each.reach for each in self.listening))

    def stop(self) -> None:
        """As `HttpServer.stop`; live pages end at once."""
        if self._page is not None:
            self._page.close()
        super().stop()


def routes(
    herder: Herder,
    config: RestConfig,
    levels: LoggerLevels,
    tell_all: TellAll,
    *,
    scrape: Scraped | None = None,
    page: Page | None = None,
) -> list[Route]:
    """The routes of an ordinary listener; without /admin/loggers if `admin.listeners` is set."""
    events = Events(EventLog(), Streams()) if page is None else Events(page.events, page.streams)
    served = [
        *(bound(METRICS, Metrics(scrape)) if scrape is not None else ()),
        *bound(CONNECTORS, Connectors(herder, config)),
        *bound(PLUGINS, Plugins(config)),
        *bound(ROOT, Root(herder, document)),
        *bound(EVENTS, events),
        *(page.routes() if page is not None else ()),
    ]
    if config.admin_listeners is None:
        served += bound(LOGGERS, Loggers(levels, tell_all))
    return served


def now_ms() -> int:
    return int(time.time() * 1000)


def _open(listener: Listener, setting: str) -> socket.socket:
    try:
        if not listener.host:
            everywhere = socket.has_dualstack_ipv6()
            family = socket.AF_INET6 if everywhere else socket.AF_INET
            return socket.create_server(
                ("", listener.port), family=family, dualstack_ipv6=everywhere, backlog=1024
            )
        family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
        return socket.create_server((listener.host, listener.port), family=family, backlog=1024)
    except OSError as e:
        raise ConfigError(f"{setting}: {listener} cannot be opened: {e.strerror or e}") from e


def _bound(listener: Listener, opened: socket.socket) -> Listener:
    return Listener(scheme=listener.scheme, host=listener.host, port=opened.getsockname()[1])


def _client_context(config: RestConfig) -> Callable[[], ssl.SSLContext]:
    """Created when the first request is forwarded by https."""
    tls = config.tls
    if tls is None:
        return cache(ssl.create_default_context)
    made = cache(lambda: ClientContext(tls))

    def current() -> ssl.SSLContext:
        made().refresh()
        return made().current()

    return current
