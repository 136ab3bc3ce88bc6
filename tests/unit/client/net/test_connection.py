"""Version negotiation, the memory that a length field may cost, and half-open connections."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from heliograph.client.net import connection as connection_module
from heliograph.client.net.connection import MAX_FRAME_BYTES, Connection
from heliograph.client.net.half_open import HalfOpenDetector
from heliograph.client.net.poller import wait
from heliograph.errors import BrokerError, ConnectionLost, NoAnswer, NotKafka
from support.waiting import PATIENCE_SECONDS

MEBIBYTE = 1 << 20


class Talk:
    """A connection past its greetings, and the broker's end of it."""

    def __init__(self, connection: Connection, broker: socket.socket) -> None:
        self.connection = connection
        self.broker = broker
        self.answers: list[memoryview] = []

    def ask(self, asked_bytes: int = MEBIBYTE) -> None:
        self.connection.send(1, 11, [b""], self.answers.append, asked_bytes=asked_bytes)

    def claim(self, size: int) -> None:
        """Say how long the answer to the first request is."""
        self.broker.sendall(struct.pack(">ii", size, 1))
        wait([self.connection], 5)
        self.connection.pump()

    @property
    def allocated(self) -> int:
        return len(self.connection._incoming)

    def receive(self, data: bytes) -> None:
        """All of it, with a word of ours in between."""
        for start in range(0, len(data), MEBIBYTE // 8):
            piece = data[start : start + MEBIBYTE // 8]
            self.broker.sendall(piece)
            before, left = self._received, len(piece)
            while self._received < before + left and not self.answers:
                wait([self.connection], 5)
                self.connection.pump()

    @property
    def _received(self) -> int:
        return self.connection._filled


@contextmanager
def talking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    monkeypatch.setattr(Connection, "_negotiate", lambda self, stopped: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = Connection(*server.getsockname()[:2], client_id="test")
        broker, _ = server.accept()
        try:
            with broker:
                yield Talk(connection, broker)
        finally:
            connection.close()


def test_an_answer_of_the_size_that_was_asked_for_has_its_memory_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with talking(monkeypatch) as talk:
        talk.ask(asked_bytes=8 * MEBIBYTE)
        talk.claim(7 * MEBIBYTE)

        assert talk.allocated == 7 * MEBIBYTE


def test_after_a_silence_only_those_heard_since_and_those_at_work_are_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With half-open connections each would cost its time, one after the other."""
    monkeypatch.setattr(connection_module, "HALF_OPEN", HalfOpenDetector())
    with (
        talking(monkeypatch) as resting,
        talking(monkeypatch) as working,
        talking(monkeypatch) as silent,
    ):
        silent.connection.versions = {1: (0, 11)}
        silent.connection.timeout = -1.0
        silent.ask()
        with talking(monkeypatch) as later:
            working.ask()
            assert all(each.connection.is_trusted for each in (resting, working, later))

            with pytest.raises(NoAnswer):
                silent.connection.pump()

            trusted = [each.connection.is_trusted for each in (resting, working, later)]
            assert trusted == [False, True, True]


def test_who_does_not_greet_has_not_fallen_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "HALF_OPEN", HalfOpenDetector())
    with talking(monkeypatch) as resting, talking(monkeypatch) as stranger:
        stranger.connection.timeout = -1.0
        stranger.ask()

        with pytest.raises(NoAnswer):
            stranger.connection.pump()

        assert resting.connection.is_trusted


def test_an_answer_larger_than_asked_for_gets_memory_as_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = bytes(range(256)) * (5 * MEBIBYTE // 256)
    with talking(monkeypatch) as talk:
        talk.ask(asked_bytes=MEBIBYTE)
        talk.claim(MAX_FRAME_BYTES)
        assert talk.allocated == MEBIBYTE

        talk.receive(content[: 2 * MEBIBYTE])
        assert talk.allocated == 4 * MEBIBYTE

    with talking(monkeypatch) as talk:
        talk.ask()
        talk.claim(4 + len(content))
        talk.receive(content)

        assert bytes(talk.answers[0]) == content


def test_a_length_that_no_broker_sends_is_garbage_unless_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with talking(monkeypatch) as talk:
        talk.ask()
        with pytest.raises(NotKafka, match="expected Kafka's protocol"):
            talk.claim(MAX_FRAME_BYTES + 1)
    with talking(monkeypatch) as talk:
        talk.ask(asked_bytes=MEBIBYTE)
        with pytest.raises(NotKafka):
            talk.claim(-1)


#: Version 0's shape: an error code, and (key, lowest, highest version) of each API.
_OLD_ANSWER = struct.Struct(">hi")
_OLD_API = struct.Struct(">hhh")


@contextmanager
def broker_that_answers(*bodies: bytes) -> Iterator[tuple[str, int, list[int]]]:
    """Address, and the versions in which it was asked: a broker that gives one answer after the other."""
    asked: list[int] = []

    def serve() -> None:
        line, _ = server.accept()
        with line, line.makefile("rb") as questions:
            for body in bodies:
                (size,) = struct.unpack(">i", questions.read(4))
                _, version, correlation_id = struct.unpack_from(">hhi", questions.read(size))
                asked.append(version)
                line.sendall(struct.pack(">ii", 4 + len(body), correlation_id) + body)
            questions.read()  # until the client hangs up

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield (*server.getsockname()[:2], asked)
        thread.join(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("named", "version"),
    [(b"", 0), (_OLD_API.pack(18, 0, 2), 2)],
    ids=["before 2.4", "2.4 and later"],
)
def test_a_broker_that_does_not_know_our_first_question_is_asked_an_older_one(
    named: bytes, version: int
) -> None:
    """KIP-511; brokers before 2.4 name no versions with their refusal."""
    refusal = _OLD_ANSWER.pack(35, len(named) // _OLD_API.size) + named
    answer = _OLD_ANSWER.pack(0, 1) + _OLD_API.pack(3, 0, 8) + (b"" if version == 0 else bytes(4))

    with broker_that_answers(refusal, answer) as (host, port, asked):
        connection = Connection(host, port, client_id="test", timeout=PATIENCE_SECONDS)
        connection.close()

    assert asked == [3, version]
    assert connection.versions == {3: (0, 8)}
    assert connection.features == {}


def test_a_broker_that_refuses_the_oldest_question_too_says_so() -> None:
    refusal = _OLD_ANSWER.pack(35, 0)

    with (
        broker_that_answers(refusal, refusal) as (host, port, _),
        pytest.raises(BrokerError, match="UNSUPPORTED_VERSION"),
    ):
        Connection(host, port, client_id="test", timeout=PATIENCE_SECONDS)


@contextmanager
def stranger(words: bytes | None) -> Iterator[tuple[str, int]]:
    """A server that says something and hangs up, or (None) says nothing at all."""

    def serve() -> None:
        line, _ = server.accept()
        with line:
            if words is None:
                line.recv(1000)
                ended.wait(PATIENCE_SECONDS)
            else:
                line.sendall(words)

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[:2]
        ended.set()
        thread.join(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", NotKafka, "an HTTP server answered"),
        (b"SSH-2.0-OpenSSH\r\n", NotKafka, "an SSH server answered"),
        (
            b"\x15\x03\x03\0\x02\x02\x16",
            NotKafka,
            r"a TLS server answered; the listener may need security.protocol=SSL, or SASL_SSL with a login "
            r"\(Strimzi: add tls\)",
        ),
        (b"", ConnectionLost, "does not answer Kafka's first request"),
        (None, ConnectionLost, "does not answer Kafka's first request"),
    ],
    ids=["HTTP", "SSH", "TLS", "hangs up", "says nothing"],
)
def test_what_is_no_broker_is_told_by_what_it_says(
    words: bytes | None, error: type[Exception], said: str
) -> None:
    with stranger(words) as (host, port), pytest.raises(error, match=f"{host}:{port}.*{said}"):
        Connection(host, port, client_id="test", timeout=0.3)
