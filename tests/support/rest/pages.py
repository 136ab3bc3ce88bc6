"""A page over figures that a test sets, asked without any socket or in a real listener."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.security.secrets import hidden
from heliograph.connect.herder import Herder
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import ClientError
from heliograph.model import Gap, PartitionState, Receipt, TopicPartition
from heliograph.runtime.events import EventLog
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.state_watch import StateWatch
from heliograph.web.exchange import RestRequest, RestResponse
from heliograph.web.listener.server import RestServer
from heliograph.web.routing import Router
from heliograph.web.ui.page import Page
from heliograph.web.ui.publisher import Publisher
from support.rest.memory_herder import MemoryHerder

OWN_FORM = {"sec-fetch-site": "same-origin", "origin": "http://worker:8083", "host": "worker:8083"}


def receipt(
    flow: str,
    partition: int = 0,
    *,
    topic: str = "orders",
    position: int = 10,
    end: int = 10,
    records: int = 0,
    state: PartitionState = PartitionState.RUNNING,
    error: str | None = None,
) -> Receipt:
    return Receipt(
        flow=flow,
        topic=topic,
        partition=partition,
        position=position,
        records=records,
        bytes=100 * records,
        source_end=end,
        stored=True,
        state=state,
        error=error,
    )


def source_connector(source: str, target: str, **settings: str) -> Mapping[str, str]:
    return {
        "connector.class": "MirrorSourceConnector",
        "source.cluster.alias": source,
        "target.cluster.alias": target,
        "source.cluster.bootstrap.servers": "a:9092",
        "target.cluster.bootstrap.servers": "b:9092",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }


class Figures:
    """What a mirror would report; `tick` is a second of the publisher and of the states' thread."""

    def __init__(self, herder: Herder | None = None, *, writable: bool = True) -> None:
        given: Any = herder or MemoryHerder()  # which has what the page asks for
        self.herder = given
        self.events = EventLog()
        self.progress = Progress()
        self.problems = Problems(events=self.events)
        self.gaps: list[tuple[str, TopicPartition, Gap]] = []
        self.unreachable: dict[str, tuple[str, ...]] = {}
        self.seconds = 0.0
        self.publisher = Publisher(
            self.progress,
            self.problems,
            lambda: dict(self.unreachable),
            clock=lambda: self.seconds,
        )
        self.states = StateWatch(self.progress.receipts, lambda: self.gaps, self.problems)
        self.page = Page(
            self.publisher, self.events, self.herder, unreachable, hidden, writable=writable
        )
        self.progress.begin(1)

    def add(self, source: str, target: str, **settings: str) -> str:
        """A source connector of a flow; its name."""
        name = f"{source}->{target}.MirrorSourceConnector"
        config = {"name": name, **source_connector(source, target, **settings)}
        self.herder.put(name, config, initial_state=None, allow_replace=True)
        return name

    def tick(self, *receipts: Receipt, seconds: float = 1.0) -> None:
        self.seconds += seconds
        self.progress.update(1, receipts)
        self.publisher.publish()
        self.states.look()

    def ask(
        self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None, **query: str
    ) -> RestResponse:
        call = RestRequest(
            method=method,
            target=path,
            path={},
            query={name: [value] for name, value in query.items()},
            headers={"host": "worker:8083", **(headers or {})},
            base="http://worker:8083",
        )
        handler, found = Router(self.page.routes()).find(call)
        return handler(
            RestRequest(
                method=call.method,
                target=call.target,
                path=found,
                query=call.query,
                headers=call.headers,
                base=call.base,
            )
        )

    def text(self, path: str, **query: str) -> str:
        return self.ask(path, "GET", None, **query).body().decode()

    @contextmanager
    def listening(self, **settings: str) -> Iterator[int]:
        """The port of a real listener."""
        named = {name.replace("_", "."): value for name, value in settings.items()}
        rest = read_rest_config({"listeners": "http://localhost:0"} | named, {})
        levels = LoggerLevels(lambda: 0)

        def set_level(logger: str, level: str) -> None:
            levels.set(logger, level)

        server = RestServer(rest, self.herder, levels, set_level, page=self.page)
        server.start()
        try:
            yield server.port
        finally:
            server.stop()


def unreachable() -> MirrorConfig:
    raise ClientError("b: no broker of b:9092 answers")
