"""The driver's end of the channel, and what its tasks tell it."""

from __future__ import annotations

import json
import queue
import socket
from collections.abc import Iterable

from heliograph.model import PartitionState, Receipt
from heliograph.plan.grants import Hello
from heliograph.security import Secret
from heliograph.spark.control_channel import TaskChannel
from heliograph.spark.control_server import ChannelServer
from heliograph.spark.signed_lines import TASK, SignedLines, proof
from support.waiting import PATIENCE_SECONDS

KEY = Secret("only our tasks know")
_NONCE = "a task's nonce"
SECONDS = PATIENCE_SECONDS


def receipt(position: int = 5, error: str | None = None) -> Receipt:
    return Receipt(
        flow="a->b",
        topic="größe",
        partition=3,
        position=position,
        records=2,
        bytes=100,
        source_end=9,
        stored=True,
        state=PartitionState.RUNNING if error is None else PartitionState.FAILED,
        error=error,
    )


class Driver:
    def __init__(self) -> None:
        self.heard: queue.Queue[tuple[int, list[Receipt]]] = queue.Queue()
        self.missed: queue.Queue[int] = queue.Queue()
        self.done: queue.Queue[tuple[int, int]] = queue.Queue()
        self._epoch: int | None = None
        self._tasks = 0
        self.server = ChannelServer(
            KEY,
            lambda epoch, got: self.heard.put((epoch, got)),
            on_done=lambda epoch, task: self.done.put((epoch, task)),
            on_gone=lambda epoch, _: self.missed.put(epoch),
        )

    def open_epoch(self, epoch: int) -> None:
        self._epoch = epoch
        self.server.open_epoch(epoch)

    def task(self, epoch: int = 1, key: Secret = KEY) -> TaskChannel:
        """A new task of this epoch, which is opened for it."""
        if epoch != self._epoch:
            self.open_epoch(epoch)
        self._tasks += 1
        return self.attempt(Hello(epoch, self._tasks, "first"), key)

    def attempt(self, hello: Hello, key: Secret = KEY) -> TaskChannel:
        return TaskChannel(self.server.address, key, hello)


def hello_line(challenge: str, hello: Hello) -> bytes:
    """As a task says it."""
    said = proof(KEY, "hello", challenge, _NONCE, *map(str, hello))
    return json.dumps({**hello._asdict(), "nonce": _NONCE, "proof": said}).encode() + b"\n"


def signed(challenge: str, texts: Iterable[bytes]) -> bytes:
    """What a task says after that."""
    signs = SignedLines(KEY, TASK, challenge, _NONCE)
    return b"".join(signs.sign(text) for text in texts)


def challenge_of(line: socket.socket) -> str:
    """The driver's first line, byte by byte: what follows it is left."""
    text = b""
    while not text.endswith(b"\n"):
        said = line.recv(1)
        assert said, "the driver hung up without a challenge"
        text += said
    return text.decode().strip()
