"""Server-sent events: a bounded number of clients, none of which can hold anything up."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.runtime.events import EventKind
from heliograph.web.endpoints.events import Events
from heliograph.web.exchange import Refused, RestRequest
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.server import RestServer
from heliograph.web.streams import Streams, sent_event, wants_stream
from support.rest.pages import Figures
from support.waiting import PATIENCE_SECONDS, eventually

STREAM = {"accept": "text/event-stream"}


def asked(method: str = "GET", accept: str = "text/event-stream") -> RestRequest:
    return RestRequest(
        method=method, target="/events", path={}, query={}, headers={"accept": accept}
    )


def test_a_stream_is_for_those_who_ask_for_one() -> None:
    assert wants_stream(asked())
    assert not wants_stream(asked(accept="application/json"))
    assert not wants_stream(asked(method="HEAD"))


def test_every_line_of_an_event_is_marked() -> None:
    assert sent_event("view", "a\nb\r\nc\u2028d", 7) == (
        "event: view\nid: 7\ndata: a\ndata: b\ndata: c\u2028d\n\n".encode()
    )


def test_new_events_arrive_and_old_ones_are_skipped_after_a_reconnect() -> None:
    figures = Figures()
    for number in range(3):
        figures.events.add(EventKind.EPOCH, "epoch 1", f"message {number}")
    with figures.listening() as port:
        connection = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/events", headers=STREAM | {"last-event-id": "2"})
        response = connection.getresponse()
        first = _next_data(response)
        figures.events.add(EventKind.RESTART, "", "the copy restarts")
        second = _next_data(response)
        connection.close()

    assert [first["message"], second["message"]] == ["message 2", "the copy restarts"]


def test_too_many_readers_are_refused_and_places_come_free_again() -> None:
    figures = Figures()
    figures.page.streams = Streams(most=1)
    with figures.listening() as port:
        first = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
        first.request("GET", "/ui", headers=STREAM)
        first.getresponse().readline()
        second = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
        second.request("GET", "/events", headers=STREAM)
        refused = second.getresponse()
        body = json.loads(refused.read())
        first.close()
        eventually(lambda: figures.page.streams.clients, lambda clients: clients == 0)
        second.close()

    assert refused.status == 503
    assert "1 client read live events already" in body["message"]


def test_a_listener_with_readers_stops_at_once() -> None:
    figures = Figures()
    with figures.listening() as port:
        connection = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/ui/events", headers=STREAM)
        response = connection.getresponse()
        response.readline()
    while response.readline():
        pass  # what was on its way
    connection.close()
    assert figures.page.streams.clients == 0


def test_a_client_that_reads_nothing_is_disconnected() -> None:
    figures = Figures()
    figures.page.streams = Streams(seconds=0.05)
    for number in range(400):
        figures.events.add(EventKind.PROBLEM, "area", f"{number} " + "x" * 20_000)
    server = _with_short_patience(figures)
    client = socket.create_connection(("localhost", server.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    try:
        eventually(lambda: figures.page.streams.clients, lambda clients: clients == 1)
        eventually(lambda: figures.page.streams.clients, lambda clients: clients == 0)
    finally:
        client.close()
        server.stop()


@pytest.mark.parametrize("since", ["-1", "x", "1" * 30])
def test_since_is_the_number_of_an_event(since: str) -> None:
    figures = Figures()
    call = RestRequest(
        method="GET", target="/events", path={}, query={"since": [since]}, headers={}
    )

    with pytest.raises(Refused, match="expected the number of an event") as refused:
        Events(figures.events, Streams()).list(call)

    assert refused.value.status == 400


def _next_data(response: http.client.HTTPResponse) -> dict[str, object]:
    while True:
        line = response.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data: "):
            found: dict[str, object] = json.loads(line.removeprefix(b"data: "))
            return found


def _with_short_patience(figures: Figures) -> RestServer:
    levels = LoggerLevels(lambda: 0)
    rest = read_rest_config({"listeners": "http://localhost:0"}, {})
    limits = Limits(write_seconds=0.5)
    server = RestServer(rest, figures.herder, levels, levels.set, limits, page=figures.page)
    server.start()
    return server
