"""Listeners: one thread, one event loop, a uvicorn server for each address."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache

import uvicorn

from heliograph.config.connectors.rest import Listener, ListenerTls, RestConfig
from heliograph.connect.herder import Herder
from heliograph.connect.logger_levels import Levels
from heliograph.errors import ConfigError
from heliograph.web.api import Api
from heliograph.web.app import new_app
from heliograph.web.endpoints.connectors import Connectors
from heliograph.web.endpoints.loggers import Loggers, TellAll
from heliograph.web.endpoints.plugins import Plugins
from heliograph.web.endpoints.root import Root
from heliograph.web.listener.tls import client_context, server_context
from heliograph.web.routing import Route

_log = logging.getLogger(__name__)

_START_SECONDS = 10.0
_STOP_SECONDS = 3
#: More requests than these at a time are told to come back (503).
_CONCURRENT = 200


class RestServer:
    """Answers from `start` to `stop`. `tell_all` sets a logger's level on every worker of the cluster."""

    def __init__(
        self,
        config: RestConfig,
        herder: Herder,
        levels: Levels,
        tell_all: TellAll,
    ) -> None:
        self._config = config
        self._herder = herder
        self._levels = levels
        self._tell_all = tell_all
        self._servers: list[uvicorn.Server] = []
        self._thread: threading.Thread | None = None
        self.listening: list[Listener] = []

    @property
    def port(self) -> int:
        """Of the first listener, once it is known."""
        return self.listening[0].port

    def start(self) -> None:
        """Back when every listener is open. Raises ConfigError for an address that cannot be had."""
        sockets: list[socket.socket] = []
        try:
            for listener, api, tls in self._listeners():
                opened = _open(listener)
                sockets.append(opened)
                self.listening.append(_bound(listener, opened))
                self._servers.append(uvicorn.Server(self._uvicorn_config(api, tls)))
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
        _log.info("REST API at %s", ", ".join(map(str, self.listening)))

    def stop(self) -> None:
        """Requests under way have a few seconds to end."""
        for server in self._servers:
            server.should_exit = True
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS + 5)
        self._servers, self._thread = [], None

    def _listeners(self) -> list[tuple[Listener, Api, ssl.SSLContext | None]]:
        config = self._config
        everything = routes(self._herder, config, self._levels, self._tell_all)
        loggers = Loggers(self._levels, self._tell_all).routes()
        main = Api(everything, config.users, _client_context(config))
        admin = Api(loggers, config.users, _client_context(config))
        return [
            *((each, main, _context(each, config.tls)) for each in config.listeners),
            *(
                (each, admin, _context(each, config.admin_tls))
                for each in config.admin_listeners or ()
            ),
        ]

    def _uvicorn_config(self, api: Api, tls: ssl.SSLContext | None) -> uvicorn.Config:
        return uvicorn.Config(
            new_app(api, self._config),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONCURRENT,
            timeout_graceful_shutdown=_STOP_SECONDS,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )

    def _run(self, sockets: list[socket.socket], ready: Future[None]) -> None:
        asyncio.run(self._serve(sockets, ready))

    async def _serve(self, sockets: list[socket.socket], ready: Future[None]) -> None:
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
        await asyncio.gather(*serving)


def routes(herder: Herder, config: RestConfig, levels: Levels, tell_all: TellAll) -> list[Route]:
    """Of an ordinary listener; with listeners of their own, loggers are not served here."""
    served = [
        *Connectors(herder, config).routes(),
        *Plugins(config).routes(),
        *Root(herder).routes(),
    ]
    if config.admin_listeners is None:
        served += Loggers(levels, tell_all).routes()
    return served


def now_ms() -> int:
    return int(time.time() * 1000)


def _open(listener: Listener) -> socket.socket:
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
        raise ConfigError(f"listeners: {listener} cannot be opened: {e.strerror or e}") from e


def _bound(listener: Listener, opened: socket.socket) -> Listener:
    return Listener(scheme=listener.scheme, host=listener.host, port=opened.getsockname()[1])


def _context(listener: Listener, tls: ListenerTls | None) -> ssl.SSLContext | None:
    return server_context(tls) if listener.scheme == "https" and tls is not None else None


def _client_context(config: RestConfig) -> Callable[[], ssl.SSLContext]:
    """Made when the first request is forwarded by https."""
    return cache(lambda: client_context(config.tls))
