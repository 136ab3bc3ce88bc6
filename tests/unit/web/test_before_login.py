"""Limits on a client before its login, over real sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from harness.certificates import Authority
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.server import RestServer
from support.rest.listening import (
    PATIENCE,
    answer,
    basic,
    connected,
    ends,
    get,
    head,
    send,
    serving,
)

QUICK = Limits(head_seconds=0.3, handshake_seconds=0.3, write_seconds=0.3)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    file = tmp_path_factory.mktemp("users") / "users.properties"
    file.write_text("alice = s3same\n")
    return {"rest.users.file": str(file)}


def test_200_silent_connections_of_one_address_lock_nobody_out() -> None:
    with serving() as server, connected(server.port, 200):
        assert get(server.port) == 200
        assert get(server.port, source="127.0.0.2") == 200


def test_silent_connections_of_many_addresses_lock_nobody_out() -> None:
    """More than the limit: those that have been idle for longest are closed first."""
    with serving({"rest.max.connections": "50"}) as server:
        silent = [
            socket.create_connection(
                ("127.0.0.1", server.port), PATIENCE, source_address=(f"127.0.1.{n}", 0)
            )
            for n in range(1, 61)
        ]
        try:
            assert get(server.port) == 200
            assert ends(silent[0])
        finally:
            for each in silent:
                each.close()


def test_a_connection_too_many_closes_the_one_of_its_address_that_waited_longest() -> None:
    with (
        serving({"rest.max.connections.per.ip": "3"}) as server,
        connected(server.port, 3) as (first, second, third),
        connected(server.port, 1) as (fourth,),
    ):
        assert ends(first)
        for each in (second, third, fourth):
            each.sendall(head("GET", "/connectors"))
            assert answer(each)[0] == 200


def test_a_connection_whose_request_is_being_answered_is_not_closed_for_another() -> None:
    with (
        serving({"rest.max.connections.per.ip": "1"}) as server,
        connected(server.port, 1) as (busy,),
    ):
        busy.sendall(head("PUT", "/connectors/c/config", Content_Length="2"))
        busy.settimeout(0.2)
        with pytest.raises(TimeoutError):  # it waits for the body
            busy.recv(1)
        with connected(server.port, 1) as (refused,):
            assert ends(refused)
        busy.settimeout(PATIENCE)
        busy.sendall(b"{}")
        assert answer(busy)[0] == 415


def test_a_head_that_does_not_end_closes_its_connection() -> None:
    with serving(limits=QUICK) as server, connected(server.port, 2) as (silent, dripping):
        done = threading.Event()

        def drip() -> None:
            try:
                dripping.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
                while not done.wait(0.05):
                    dripping.sendall(b"x")
            except OSError:
                done.set()  # the server has closed it

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert ends(silent)
            assert ends(dripping)
        finally:
            done.set()
            thread.join()


def test_a_second_head_has_its_time_as_well() -> None:
    with serving(limits=QUICK) as server, connected(server.port, 1) as (connection,):
        connection.sendall(head("GET", "/connectors"))
        assert answer(connection)[0] == 200
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert ends(connection)


def test_a_handshake_that_does_not_begin_closes_its_connection() -> None:
    worker = Authority("authority").issue("worker", ["localhost"])
    settings = {
        "listeners": "https://127.0.0.1:0",
        "listeners.https.ssl.keystore.type": "PEM",
        "listeners.https.ssl.keystore.key": worker.key(),
        "listeners.https.ssl.keystore.certificate.chain": worker.pem,
    }
    with serving(settings, limits=QUICK) as server, connected(server.port, 1) as (silent,):
        assert ends(silent)


def test_who_has_no_password_is_refused_before_a_body_is_read(users: dict[str, str]) -> None:
    with serving(users) as server, connected(server.port, 1) as (connection,):
        connection.sendall(head("POST", "/connectors", Content_Length="1000000"))

        assert answer(connection)[0] == 401


def test_the_body_of_a_refused_request_is_not_waited_for_for_long(users: dict[str, str]) -> None:
    with serving(users, limits=QUICK) as server, connected(server.port, 1) as (connection,):
        connection.sendall(head("POST", "/connectors", Content_Length="1000000"))
        assert answer(connection)[0] == 401
        connection.sendall(b"{")

        assert ends(connection)


def test_a_client_that_asked_whether_to_send_its_body_is_not_told_to(users: dict[str, str]) -> None:
    with serving(users) as server, connected(server.port, 1) as (connection,):
        connection.sendall(head("POST", "/connectors", Content_Length="9", Expect="100-continue"))

        assert answer(connection)[0] == 401
        assert ends(connection)


def test_a_body_that_is_refused_does_not_spoil_the_next_request(users: dict[str, str]) -> None:
    with serving(users) as server, connected(server.port, 1) as (connection,):
        connection.sendall(head("POST", "/connectors", Content_Length="2") + b"{}")
        assert answer(connection)[0] == 401
        connection.sendall(head("GET", "/connectors", Authorization=basic("alice", "s3same")))
        assert answer(connection)[0] == 200


def test_a_client_that_reads_no_answers_is_dropped() -> None:
    with serving(limits=QUICK) as server:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        with connection:
            connection.connect(("127.0.0.1", server.port))
            # Answers of 30 KB each, and none is read.
            with pytest.raises(OSError, match=r"Broken pipe|reset"):
                connection.sendall(head("GET", "/openapi.json") * 1_000_000)


@pytest.mark.parametrize("encoding", ["chunked", "Chunked", "identity"])
def test_a_body_with_two_lengths_is_refused(encoding: str) -> None:
    """Proxies before the worker may take the other of the two, and see another request behind it."""
    with serving() as server:
        request = head("PUT", "/connectors/c/pause", Content_Length="4", Transfer_Encoding=encoding)
        smuggled = b"0\r\n\r\n" + head("GET", "/connectors")
        with connected(server.port, 1) as (connection,):
            connection.sendall(request + smuggled)

            assert answer(connection)[0] in (400, 501)
            assert ends(connection)


def test_what_is_no_http_is_refused() -> None:
    with serving() as server:
        assert send(server.port, b"\x16\x03\x01\x02\x00\x01\r\n\r\n")[0] == 400


@pytest.fixture(scope="module")
def guarded(users: dict[str, str]) -> Iterator[RestServer]:
    """For many requests: to start one and stop it takes longer than to ask it."""
    with serving(users) as server:
        yield server


@pytest.mark.parametrize("path", ["/%0A", "/connectors/%0d%0a", "/%0A/../connectors", "/", "/%zz"])
@pytest.mark.parametrize("method", ["GET", "FOO", "CONNECT"])
def test_no_path_and_no_method_leads_past_the_gate(
    guarded: RestServer, method: str, path: str
) -> None:
    assert send(guarded.port, head(method, path))[0] == 401
