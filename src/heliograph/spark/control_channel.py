"""The line between the driver and its tasks: receipts and logs one way, "end this epoch" the other.

    task   ──►  {"token":…,"epoch":7}  {"receipts":[…]}  {"level":30,"message":…}  {"done":true}
    driver ──►  alive  |  end  |  end us->eu

Lines over TCP, as Spark's own executors talk to their driver: what can run a task can reach it. A task whose
driver is gone reads the end of the stream and stops, and so does one that has not heard of it for some
seconds: no task outlives its service, nor copies on while another service takes over. The driver is
told of a task that is gone without a word. The first line carries a token that only our tasks know.
"""

from __future__ import annotations

import hmac
import json
import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from heliograph.errors import ConnectionLost
from heliograph.model import Gap, GapKind, Mark, PartitionState, Receipt, Stretch

log = logging.getLogger(__name__)

#: Bytes of one message: a receipt takes about 300, a task rarely has 10,000 of them; a stretch takes 40,
#: and links tell at most 50,000 at a time.
_MAX_LINE = 16 << 20
_MAX_LOG = 4096
#: For the line with the token: anybody may connect, and each has a thread until then.
_HELLO_SECONDS = 10.0
_ALIVE_SECONDS = 1.0
#: No longer than the session of the driver's membership (`client/membership.py`).
SILENT_SECONDS = 6.0
_WAIT_SECONDS = 0.05
#: Not the trail: what an epoch leaves behind comes with its result.
_NAMES = tuple(each.name for each in fields_of(Receipt) if each.name != "trail")


class _ToDriver(logging.Handler):
    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.INFO)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send(record)


class TaskChannel:
    """A task's end. Receipts are sent when they changed; `ended` is true once the epoch is over,
    `ended_flows` are those that are over already."""

    def __init__(self, address: tuple[str, int], token: str, epoch: int) -> None:
        self.ended = False
        self.ended_flows: set[str] = set()
        self._heard_at = time.monotonic()
        self._line = b""
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, str, int], Receipt] = {}
        try:
            self._socket = socket.create_connection(address, timeout=10)
        except OSError as e:
            raise ConnectionLost(f"driver at {address[0]}:{address[1]}: cannot connect: {e}") from e
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._write({"token": token, "epoch": epoch})

    def wait(self, timeout: float) -> None:
        """Wait for the driver's word, at most `timeout` seconds."""
        readable, _, _ = select.select([self._socket], [], [], timeout)
        if readable:
            self._hear()
        elif time.monotonic() - self._heard_at > SILENT_SECONDS:
            log.warning("driver: not heard of for %g s; ending the epoch", SILENT_SECONDS)
            self.ended = True

    def _hear(self) -> None:
        try:
            said = self._socket.recv(4096)
        except OSError as e:
            log.warning("driver: connection broke (%s); ending the epoch", e)
            said = b""
        if not said:
            log.warning("driver: gone; ending the epoch")
            self.ended = True
        self._heard_at = time.monotonic()
        *lines, self._line = (self._line + said).split(b"\n")
        for word, _, flow in (line.decode().partition(" ") for line in lines):
            if word == "end" and flow:
                self.ended_flows.add(flow)
            elif word == "end":
                self.ended = True

    def report(self, receipts: Iterable[Receipt]) -> None:
        changed = []
        for receipt in receipts:
            key = (receipt.flow, receipt.topic, receipt.partition)
            before = self._sent.get(key)
            if before is receipt:
                continue
            if receipt.stretches or receipt.gaps or before != receipt:
                changed.append(receipt)
            news = receipt.stretches or receipt.gaps
            self._sent[key] = replace(receipt, stretches=(), gaps=()) if news else receipt
        if changed:
            self._write({"receipts": [_fields(receipt) for receipt in changed]})

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
        """The task returns in order; one that is gone without this word is missed."""
        self._write({"done": True})

    def close(self) -> None:
        self._socket.close()

    def _log(self, record: logging.LogRecord) -> None:
        if record.name != __name__:  # a broken line is not reported over that line
            self._write({"level": record.levelno, "message": record.getMessage()[:_MAX_LOG]})

    def _write(self, message: dict[str, Any]) -> None:
        try:
            with self._lock:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as e:
            log.warning("driver: connection broke (%s); ending the epoch", e)
            self.ended = True


class ChannelServer:
    """The driver's end: listens, hands on receipts, and tells tasks when their epoch is over.

    `on_gone` is called with the epoch of a task whose line ended without a word, in one of its threads.
    """

    def __init__(
        self,
        token: str,
        on_receipts: Callable[[int, list[Receipt]], None],
        host: str = "127.0.0.1",
        *,
        on_gone: Callable[[int], None] = lambda epoch: None,
    ) -> None:
        self._token = token
        self._on_receipts = on_receipts
        self._on_gone = on_gone
        self._listener = socket.create_server((host, 0))
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self._lock = threading.Lock()
        self._tasks: dict[socket.socket, int] = {}
        self._closed = threading.Event()
        #: The last epoch that was ended, of all flows ("") and of single ones.
        self._ended: dict[str, int] = {}
        threading.Thread(target=self._accept, name="channel", daemon=True).start()
        threading.Thread(target=self._show_life, name="channel-alive", daemon=True).start()

    def end_epoch(self, epoch: int, flow: str = "") -> None:
        """Tell every task of this epoch, connected or still to come, to finish, or to finish with a flow."""
        with self._lock:
            self._ended[flow] = max(self._ended.get(flow, -1), epoch)
            for task, its_epoch in self._tasks.items():
                if its_epoch <= epoch:
                    _tell(task, f"end {flow}".strip())

    def await_gone(self, epoch: int, timeout: float) -> bool:
        """Whether no task of this epoch, or of one before, is left within the time."""
        deadline = time.monotonic() + timeout
        while self._any_task(epoch):
            if self._closed.wait(_WAIT_SECONDS) or time.monotonic() > deadline:
                return not self._any_task(epoch)
        return True

    def close(self) -> None:
        self._closed.set()
        # A thread that waits on a socket keeps it open after `close`; only `shutdown` wakes it.
        _shut_down(self._listener)
        self._listener.close()
        with self._lock:
            for task in self._tasks:
                _shut_down(task)

    def _any_task(self, epoch: int) -> bool:
        with self._lock:
            return any(its_epoch <= epoch for its_epoch in self._tasks.values())

    def _show_life(self) -> None:
        while not self._closed.wait(_ALIVE_SECONDS):
            with self._lock:
                for task in self._tasks:
                    _tell(task, "alive")

    def _accept(self) -> None:
        while True:
            try:
                task, _ = self._listener.accept()
            except OSError:
                return  # closed: the service is stopping
            threading.Thread(
                target=self._serve, args=(task,), name="channel-task", daemon=True
            ).start()

    def _serve(self, task: socket.socket) -> None:
        epoch, done = None, False
        try:
            with task, task.makefile("rb") as lines:
                task.settimeout(_HELLO_SECONDS)
                epoch = self._admit(lines.readline(4096))
                if epoch is None:
                    log.warning("channel: a connection without the token was refused")
                    return
                task.settimeout(None)
                self._register(task, epoch)
                while line := lines.readline(_MAX_LINE):
                    message = json.loads(line)
                    done = done or "done" in message
                    self._hear(epoch, message)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as e:
            log.info("channel: a task's connection ended: %s", e)
        finally:
            with self._lock:
                self._tasks.pop(task, None)
        if epoch is not None and not done and not self._closed.is_set():
            self._on_gone(epoch)

    def _hear(self, epoch: int, message: dict[str, Any]) -> None:
        if "message" in message:
            log.log(message["level"], "%s", message["message"])
        elif "receipts" in message:
            self._on_receipts(epoch, [receipt_of(fields) for fields in message["receipts"]])

    def _admit(self, line: bytes) -> int | None:
        """The epoch of a task that knows the token; anybody may connect, so nothing is believed."""
        try:
            hello = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(hello, dict) or not isinstance(hello.get("epoch"), int):
            return None
        given = str(hello.get("token")).encode(errors="replace")
        return hello["epoch"] if hmac.compare_digest(given, self._token.encode()) else None

    def _register(self, task: socket.socket, epoch: int) -> None:
        with self._lock:
            self._tasks[task] = epoch
            for flow, ended in self._ended.items():
                if epoch <= ended:
                    _tell(task, f"end {flow}".strip())


def _tell(task: socket.socket, word: str) -> None:
    """Without waiting: words are few and short, and a task that takes in none of them is as good as gone."""
    try:
        task.send(f"{word}\n".encode(), socket.MSG_DONTWAIT)
    except OSError as e:
        log.info("channel: a task is gone already: %s", e)


def _shut_down(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError as e:
        log.debug("channel: closed already: %s", e)


def _fields(receipt: Receipt) -> dict[str, Any]:
    """As `asdict`, which would copy every stretch."""
    return {name: getattr(receipt, name) for name in _NAMES}


def receipt_of(fields: dict[str, Any]) -> Receipt:
    """From the fields of one, as they are behind JSON."""
    mark = fields["mark"]
    values = {
        "state": PartitionState(fields["state"]),
        "mark": Mark(*mark) if mark is not None else None,
        "gaps": tuple(Gap(GapKind(kind), *numbers) for kind, *numbers in fields["gaps"]),
        "stretches": tuple(Stretch(*numbers) for numbers in fields["stretches"]),
    }
    return Receipt(**{**fields, **values})
