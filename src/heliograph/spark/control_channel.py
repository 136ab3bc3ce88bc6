"""The task's end of the control channel: sends receipts and log lines, asks whether its leases are valid.

    driver ──►  <challenge>
    task   ──►  {"epoch":7,"task":0,"attempt":"42","nonce":…,"proof":…}          hello
    driver ──►  granted  |  refused <cause>
    task   ──►  {"ask":3}  {"receipts":[…]}  {"tasks":[…]}  {"level":30,"message":…}  {"done":true}
    driver ──►  alive 3  |  end  |  end us->eu  |  share 0.25 us->eu

Lines over TCP: executors can reach the driver, since Spark itself needs that. All lines but the first two are
signed (`signed_lines.py`), so that neither side accepts lines of another program. The driver grants the
leases of a task to its first attempt only (`plan/grants.py`). Every second the task asks whether they are
still valid; an answer confirms them for `SILENT_SECONDS` from when the task *asked*, so that answers which
were buffered while this process was frozen confirm nothing. Without an answer or the connection, the leases
lapse and the task stops, since the driver may lease its partitions to another task. No task outlives its
service, or copies while another service takes over.
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
from typing import Any

from heliograph.errors import ConnectionLost, LeaseRefused
from heliograph.measured import TaskReport
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
from heliograph.spark.task_report_codec import report_to_json

log = logging.getLogger(__name__)

_MAX_LOG = 4096
#: Errors of the channel are not sent over the channel, nor what the driver's end has logged.
_UNREPORTED = frozenset({__name__, "heliograph.spark.control_server"})
#: For the first line of each side.
HELLO_SECONDS = 10.0
_ASK_SECONDS = 1.0


class _ToDriver(logging.Handler):
    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.INFO)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send(record)


class TaskChannel:
    """Only changed receipts are sent. `ended` is true once the epoch has ended, `ended_flows` are the flows
    that have ended before, `shares` those of the rates of throttled flows that the driver has changed. One
    thread calls `wait` and `report`; any thread may read `lapsed`."""

    def __init__(self, address: tuple[str, int], key: Secret, hello: Hello) -> None:
        """Returns when the leases are granted; raises LeaseRefused or ConnectionLost."""
        self.ended = False
        self.ended_flows: set[str] = set()
        self.shares: dict[str, float] = {}
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
        signature = proof(key, "hello", challenge, nonce, *map(str, hello))
        text = json.dumps({**hello._asdict(), "nonce": nonce, "proof": signature}).encode()
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
        self._process(b"")  # lines that arrived with it

    def _checked(self, line: bytes) -> str:
        try:
            return self._checks.check(line).decode()
        except ForgedLine as e:
            raise ConnectionLost(f"{self._driver}: {e}") from e

    def _first_line(self) -> bytes:
        while b"\n" not in self._line:
            try:
                received = self._socket.recv(4096)
            except OSError as e:
                raise ConnectionLost(f"{self._driver}: did not grant the leases: {e}") from e
            if not received:
                raise ConnectionLost(
                    f"{self._driver}: closed the connection without granting leases"
                )
            self._line += received
        line, _, self._line = self._line.partition(b"\n")
        return line

    @property
    def lapsed(self) -> bool:
        """Whether the driver may have leased the partitions to another task; stays true once it is."""
        if not self._lapsed and time.monotonic() - self.confirmed_at > SILENT_SECONDS:
            self._lose(f"has not answered for {SILENT_SECONDS:g} s")
        return self._lapsed

    def wait(self, timeout: float) -> None:
        """Wait for a line of the driver, at most `timeout` seconds."""
        if self.lapsed:
            time.sleep(timeout)
            return
        self._ask(time.monotonic())
        readable, _, _ = select.select([self._socket], [], [], timeout)
        if readable:
            self._receive()

    def _ask(self, now: float) -> None:
        if now - self._asked_at >= _ASK_SECONDS:
            self.asks += 1
            self._asked[self.asks] = self._asked_at = now
            self._write({"ask": self.asks})

    def _receive(self) -> None:
        try:
            received = self._socket.recv(4096)
        except OSError as e:
            self._lose(f"connection broke: {e}")
            return
        if not received:
            self._lose("has closed the connection")
        self._process(received)

    def _process(self, received: bytes) -> None:
        *lines, self._line = (self._line + received).split(b"\n")
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
            elif word == "share":
                share, _, flow = rest.partition(" ")
                self.shares[flow] = float(share)
            elif word == "end":
                self.ended = True

    def _lose(self, why: str) -> None:
        if not self._lapsed:
            self._lapsed = True
            log.warning("%s %s; the leases have lapsed, this task stops", self._driver, why)

    def report(self, receipts: Iterable[Receipt]) -> None:
        changed = []
        for receipt in receipts:
            key = (receipt.flow, receipt.topic, receipt.partition)
            before = self._sent.get(key)
            if before is receipt:
                continue
            if receipt.ranges or receipt.gaps or before != receipt:
                changed.append(receipt)
            self._sent[key] = receipt.without_news()
        if changed:
            self._write({"receipts": [to_json(receipt) for receipt in changed]})

    def report_tasks(self, reports: Iterable[TaskReport]) -> None:
        """One for each flow of this task."""
        self._write({"tasks": [report_to_json(report) for report in reports]})

    @contextmanager
    def forwarding_logs(self) -> Iterator[None]:
        """Log lines of this process are logged by the driver, where the user sees them."""
        logger, handler = logging.getLogger("heliograph"), _ToDriver(self._log)
        before = logger.level
        logger.setLevel(logging.INFO)  # in Spark's workers the level is WARNING
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)

    def say_done(self) -> None:
        """All receipts are sent, and the task returns; without this line the driver reports a lost task."""
        self._write({"done": True})

    def close(self) -> None:
        self._socket.close()

    def _log(self, record: logging.LogRecord) -> None:
        if record.name not in _UNREPORTED:
            self._write({"level": record.levelno, "message": record.getMessage()[:_MAX_LOG]})

    def _write(self, message: dict[str, Any]) -> None:
        if self._lapsed:
            return  # the driver ignores it, or does not receive it
        try:
            with self._lock:
                self._socket.sendall(self._signs.sign(json.dumps(message).encode()))
        except OSError as e:
            self._lose(f"connection broke: {e}")
