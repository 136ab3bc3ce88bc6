"""What a length field of a broker may make us allocate."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from heliograph.client.connection import MAX_FRAME_BYTES, Connection
from heliograph.client.poller import wait
from heliograph.errors import NotKafka

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
