"""The task's end of the line to its driver: receipts and logs one way, the right to copy the other.

    driver ──►  <challenge>
    task   ──►  {"epoch":7,"task":0,"attempt":"42","nonce":…,"proof":…}          hello
    driver ──►  granted  |  refused <why>
    task   ──►  {"ask":3}  {"receipts":[…]}  {"level":30,"message":…}  {"done":true}
    driver ──►  alive 3  |  end  |  end us->eu

Lines over TCP, as Spark's own executors talk to their driver: what can run a task can reach it. All but the
first two are signed (`signed_lines.py`), so that neither side obeys or believes a stranger. The driver
grants the leases of a task to its first attempt only (`plan/grants.py`). Every second the task asks whether
they still hold; an answer confirms them for `SILENT_SECONDS` from when the task *asked*, so that answers
which waited in a buffer while this process was frozen confirm nothing. Without an answer, or without the
connection, the leases lapse: the task stops where it is, since the driver may lease its partitions anew. No
task outlives its service, nor copies on while another service takes over.
"""

from __future__ import annotations

import json
import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from heliograph.errors import ConnectionLost, LeaseRefused
from heliograph.model import SILENT_SECONDS, Receipt
from heliograph.plan.grants import Hello
from heliograph.security import Secret
from heliograph.spark.receipt_codec import to_json
from heliograph.spark.signed_lines import (
    DRIVER,
    TASK,
    ForgedLine,
    SignedLines,
    new_nonce,
    proof,
)

log = logging.getLogger(__name__)

_MAX_LOG = 4096
#: A broken line is not reported over that line, nor what its other end has logged.
_UNREPORTED = frozenset({__name__, "heliograph.spark.control_server"})
#: For the first line of either side.
HELLO_SECONDS = 10.0
_ASK_SECONDS = 1.0


class _ToDriver(logging.Handler):
    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.INFO)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send(record)


class TaskChannel:
    """Receipts are sent when they changed; `ended` is true once the epoch is over, `ended_flows` are those
    that are over already. One thread calls `wait` and `report`; any may look whether leases have `lapsed`."""

    def __init__(self, address: tuple[str, int], key: Secret, hello: Hello) -> None:
        """Returns when the leases are granted; raises LeaseRefused or ConnectionLost."""
        self.ended = False
        self.ended_flows: set[str] = set()
        self._lapsed = False
        self._line = b""
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, str, int], Receipt] = {}
        self._asked: dict[int, float] = {}  # when, by number; not answered yet
        self.asks = 0
        self._asked_at = self.confirmed_at = time.monotonic()
        self._driver = f"driver at {address[0]}:{address[1]}"
        try:
            self._socket = socket.create_connection(address, timeout=HELLO_SECONDS)
        except OSError as e:
            raise ConnectionLost(f"{self._driver}: cannot connect: {e}") from e
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._say_hello(key, hello)
            self._await_grant(hello)
            self._socket.settimeout(SILENT_SECONDS)
        except BaseException:
            self._socket.close()
            raise

    def _say_hello(self, key: Secret, hello: Hello) -> None:
        challenge, nonce = self._first_line().decode(errors="replace"), new_nonce()
        said = proof(key, "hello", challenge, nonce, *map(str, hello))
        text = json.dumps({**hello._asdict(), "nonce": nonce, "proof": said}).encode()
        self._signs = SignedLines(key, TASK, challenge, nonce)
        self._checks = SignedLines(key, DRIVER, challenge, nonce)
        try:
            self._socket.sendall(text + b"\n")
        except OSError as e:
            raise ConnectionLost(f"{self._driver}: connection broke: {e}") from e

    def _await_grant(self, hello: Hello) -> None:
        word, _, why = self._checked(self._first_line()).partition(" ")
        if word != "granted":
            raise LeaseRefused(
                f"epoch {hello.epoch}, task {hello.task}: attempt {hello.attempt} may not copy: {why or word}"
            )
        self._obey(b"")  # what came with it

    def _checked(self, line: bytes) -> str:
        try:
            return self._checks.check(line).decode()
        except ForgedLine as e:
            raise ConnectionLost(f"{self._driver}: {e}") from e

    def _first_line(self) -> bytes:
        while b"\n" not in self._line:
            try:
                said = self._socket.recv(4096)
            except OSError as e:
                raise ConnectionLost(f"{self._driver}: did not grant the leases: {e}") from e
            if not said:
                raise ConnectionLost(f"{self._driver}: hung up without granting the leases")
            self._line += said
        line, _, self._line = self._line.partition(b"\n")
        return line

    @property
    def lapsed(self) -> bool:
        """Whether the driver may have leased the partitions to others meanwhile; for good, once it is so."""
        if not self._lapsed and time.monotonic() - self.confirmed_at > SILENT_SECONDS:
            self._lose(f"has not answered for {SILENT_SECONDS:g} s")
        return self._lapsed

    def wait(self, timeout: float) -> None:
        """Wait for the driver's word, at most `timeout` seconds."""
        if self.lapsed:
            time.sleep(timeout)
            return
        self._ask(time.monotonic())
        readable, _, _ = select.select([self._socket], [], [], timeout)
        if readable:
            self._hear()

    def _ask(self, now: float) -> None:
        if now - self._asked_at >= _ASK_SECONDS:
            self.asks += 1
            self._asked[self.asks] = self._asked_at = now
            self._write({"ask": self.asks})

    def _hear(self) -> None:
        try:
            said = self._socket.recv(4096)
        except OSError as e:
            self._lose(f"connection broke: {e}")
            return
        if not said:
            self._lose("has closed the connection")
        self._obey(said)

    def _obey(self, said: bytes) -> None:
        *lines, self._line = (self._line + said).split(b"\n")
        try:
            words = [self._checked(line) for line in lines]
        except ConnectionLost as e:
            self._lose(str(e))
            return
        for word, _, rest in (each.partition(" ") for each in words):
            if word == "alive":
                self.confirmed_at = max(self.confirmed_at, self._asked.pop(int(rest)))
            elif word == "end" and rest:
                self.ended_flows.add(rest)
            elif word == "end":
                self.ended = True

    def _lose(self, why: str) -> None:
        if not self._lapsed:
            self._lapsed = True
            log.warning("%s %s; its leases have lapsed, this task stops", self._driver, why)

    def report(self, receipts: Iterable[Receipt]) -> None:
        changed = []
        for receipt in receipts:
            key = (receipt.flow, receipt.topic, receipt.partition)
            before = self._sent.get(key)
            if before is receipt:
                continue
            if receipt.ranges or receipt.gaps or before != receipt:
                changed.append(receipt)
            news = receipt.ranges or receipt.gaps
            self._sent[key] = replace(receipt, ranges=(), gaps=()) if news else receipt
        if changed:
            self._write({"receipts": [to_json(receipt) for receipt in changed]})

    @contextmanager
    def forwarding_logs(self) -> Iterator[None]:
        """What this process has to say is logged by the driver, where a user sees it."""
        logger, handler = logging.getLogger("heliograph"), _ToDriver(self._log)
        before = logger.level
        logger.setLevel(logging.INFO)  # a worker of Spark's logs warnings only
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)

    def say_done(self) -> None:
        """All receipts were reported, and the task returns; one that is gone without this word is missed."""
        self._write({"done": True})

    def close(self) -> None:
        self._socket.close()

    def _log(self, record: logging.LogRecord) -> None:
        if record.name not in _UNREPORTED:
            self._write({"level": record.levelno, "message": record.getMessage()[:_MAX_LOG]})

    def _write(self, message: dict[str, Any]) -> None:
        if self._lapsed:
            return  # the driver does not read it, or does not count it any more
        try:
            with self._lock:
                self._socket.sendall(self._signs.sign(json.dumps(message).encode()))
        except OSError as e:
            self._lose(f"connection broke: {e}")
