"""Something answers on a broker's port, and it may be anything: a real socket that sends what it likes."""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse

from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.net.connection import MAX_FRAME_BYTES, Connection
from heliograph.errors import ClientError, ConnectionLost, NotKafka
from heliograph.model import ClusterConfig
from heliograph.wire import messages
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants
from support.fuzz.response_samples import sample

_TIMEOUT = 0.3
_METADATA = 12

Piece = bytes | float | None


class Peer:
    """Accepts one connection after another and sends what was put into `says`, piece by piece.

    None stands for the next question, a number for a pause in seconds. At the end it hangs up.
    """

    def __init__(self) -> None:
        self.says: queue.Queue[list[Piece]] = queue.Queue()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                self._say(line, self.says.get())

    def _say(self, line: socket.socket, pieces: list[Piece]) -> None:
        try:
            for piece in pieces:
                if piece is None:
                    line.recv(65536)
                elif isinstance(piece, bytes):
                    line.sendall(piece)
                else:
                    time.sleep(piece)
            line.shutdown(socket.SHUT_WR)
            while line.recv(65536):
                pass
        except OSError:
            return  # whoever listened has had enough


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()


def framed(correlation_id: int, body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, correlation_id) + body


def versions() -> bytes:
    """An answer to the first question: Metadata up to the version that the test is about."""
    entry = ApiVersionsResponse.ApiVersion(api_key=3, min_version=0, max_version=_METADATA)
    response = ApiVersionsResponse(error_code=0, api_keys=[entry], throttle_time_ms=0, version=3)
    return framed(1, bytes(response.encode(version=3)))


VERSIONS = versions()
METADATA = framed(2, b"\0" + bytes(sample(MetadataResponse, _METADATA).encode(version=_METADATA)))


def ask(peer: Peer, *pieces: Piece) -> object:
    """What a question for metadata gets from a peer that says this."""
    peer.says.put(list(pieces))
    connection = Connection(*peer.address, client_id="fuzz", timeout=_TIMEOUT)
    try:
        return connection.call(messages.MetadataRequest(topics=None, max_version=_METADATA))
    finally:
        connection.close()


@at_most(60)
@given(said=mutants([VERSIONS + METADATA, VERSIONS, b"HTTP/1.1 400 Bad Request\r\n\r\n"]))
def test_whatever_the_peer_says_the_question_is_answered_or_fails_as_ours(
    peer: Peer, said: bytes
) -> None:
    outcome = survives(lambda: ask(peer, None, said), len(said), anyway=24 << 20)

    if isinstance(outcome, Exception):
        assert isinstance(outcome, ClientError)


@at_most(30)
@given(said=mutants([METADATA], least=1))
def test_damage_after_a_good_start_is_an_error_of_ours_too(peer: Peer, said: bytes) -> None:
    outcome = survives(lambda: ask(peer, None, VERSIONS, None, said), len(said), anyway=24 << 20)

    if isinstance(outcome, Exception):
        assert isinstance(outcome, ClientError)


@pytest.mark.parametrize("size", [MAX_FRAME_BYTES, MAX_FRAME_BYTES - 1, 100 << 20])
def test_a_size_alone_does_not_cost_its_memory(peer: Peer, size: int) -> None:
    said = struct.pack(">i", size) + b"\0\0\0\2" + bytes(1000)

    outcome = survives(lambda: ask(peer, None, VERSIONS, None, said), len(said), anyway=24 << 20)

    assert isinstance(outcome, ConnectionLost)


@pytest.mark.parametrize("size", [MAX_FRAME_BYTES + 1, 2**31 - 1, -1, -(2**31), 0, 3])
def test_a_size_that_cannot_be_is_no_kafka(peer: Peer, size: int) -> None:
    with pytest.raises(NotKafka):
        ask(peer, None, VERSIONS, None, struct.pack(">i", size))


def test_an_answer_that_comes_byte_by_byte_has_the_time_of_any_other(peer: Peer) -> None:
    """Each byte comes in time, all of them together do not."""
    drip = [piece for byte in METADATA for piece in (bytes([byte]), _TIMEOUT / 10)]

    with pytest.raises(ConnectionLost, match="no answer within"):
        ask(peer, None, VERSIONS, None, *drip)


def test_an_answer_that_nobody_asked_for_is_no_kafka(peer: Peer) -> None:
    with pytest.raises(NotKafka):
        ask(peer, None, VERSIONS + METADATA, 0.2)


hosts = st.sampled_from(["", "a" * 300, "a..b", "\0", "127.0.0.1", "ä" * 70, "::1%x", "999.1.1.1"])


@at_most(30)
@given(host=hosts, port=st.sampled_from([-1, 0, 1, 65535, 65536, 2**31 - 1]))
def test_addresses_that_a_broker_makes_up_are_unreachable(host: str, port: int) -> None:
    cluster = ClusterClient(
        ClusterConfig(alias="fuzz", bootstrap_servers=("127.0.0.1:1",)), client_id="fuzz", timeout=1
    )
    cluster.metadata = Metadata(nodes={1: (host, port)})

    with pytest.raises(ClientError):
        cluster.call(1, messages.MetadataRequest())
