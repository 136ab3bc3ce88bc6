"""A REST API over a herder in memory, asked without any socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from heliograph.config.connectors.rest import RestConfig, read_rest_config
from heliograph.config.metrics_config import MetricsConfig
from heliograph.connect.herder import Herder
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.runtime.metering.scrape import Scrape
from heliograph.web.api import Api
from heliograph.web.exchange import Refused, RestRequest, RestResponse
from heliograph.web.gate import Gate
from heliograph.web.listener.protocol import Peer
from heliograph.web.listener.server import routes
from support.rest.memory_herder import MemoryHerder
from support.snapshots import SNAPSHOT

JSON_BODY = {"content-type": "application/json"}
HEARTBEAT = {
    "connector.class": "MirrorHeartbeatConnector",
    "source.cluster.alias": "A",
    "target.cluster.alias": "B",
    "source.cluster.bootstrap.servers": "a:9092",
    "target.cluster.bootstrap.servers": "b:9092",
}


class Asking:
    """`settings` are a worker's."""

    def __init__(self, herder: Herder | None = None, **settings: str) -> None:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        self.config: RestConfig = read_rest_config(named, {})
        self.herder = herder or MemoryHerder()
        levels = LoggerLevels(lambda: 0)
        self.gate = Gate.of(self.config)
        scrape = Scrape(MetricsConfig(), lambda: SNAPSHOT)
        self.api = Api(routes(self.herder, self.config, levels, levels.set, scrape=scrape), _no_tls)

    def ask(
        self,
        method: str,
        target: str,
        content: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> RestResponse:
        path, _, query = target.partition("?")
        call = RestRequest(
            method=method,
            target=path,
            path={},
            query=parse_qs(query, keep_blank_values=True),
            headers={**({} if content is None else JSON_BODY), **(headers or {})},
            body=content if isinstance(content, bytes) else _encoded(content),
            base="http://worker:8083",
        )
        try:
            asyncio.run(self.gate.admit(method, call.headers, Peer("192.0.2.1")))
        except Refused as e:
            return e.answer()
        return self.api.answer(call)

    def content(self, method: str, target: str, content: object = None) -> Any:
        return self.ask(method, target, content).content


def _encoded(content: object) -> bytes:
    return b"" if content is None else json.dumps(content).encode()


def _no_tls() -> Any:
    raise AssertionError("nothing is forwarded by https here")
