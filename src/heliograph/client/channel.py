"""The line between the driver and its tasks: receipts and logs one way, "end this epoch" the other.

JSON lines over TCP, as Spark's own executors talk to their driver: what can run a task can reach it. A
task whose driver is gone reads the end of the stream and stops, so no task outlives its service. The
first line a task sends carries a token that only this service's tasks know.
"""

from __future__ import annotations

import hmac
import json
import logging
import select
import socket
import threading
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
#: Not the trail: what an epoch leaves behind comes with its result.
_NAMES = tuple(each.name for each in fields_of(Receipt) if each.name != "trail")


class _ToDriver(logging.Handler):
    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.WARNING)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send(record)


class TaskChannel:
    """A task's end. Receipts are sent when they changed; `ended` is true once the epoch is over."""

    def __init__(self, address: tuple[str, int], token: str, epoch: int) -> None:
        self.ended = False
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, str, int], Receipt] = {}
        try:
            self._socket = socket.create_connection(address, timeout=10)
        except OSError as e:
            raise ConnectionLost(f"driver at {address[0]}:{address[1]}: cannot connect: {e}") from e
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._write({"token": token, "epoch": epoch})

    def wait(self, timeout: float) -> None:
        """Wait for the driver's word, at most `timeout` seconds. The only word is: end."""
        readable, _, _ = select.select([self._socket], [], [], timeout)
        if readable:
            try:
                said = self._socket.recv(4096)
            except OSError as e:
                log.warning("driver: connection broke (%s); ending the epoch", e)
                said = b""
            if not said:
                log.warning("driver: gone; ending the epoch")
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
        """What this process logs as a warning or worse is logged by the driver, where a user sees it."""
        logger, handler = logging.getLogger("heliograph"), _ToDriver(self._log)
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)

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
    """The driver's end: listens, hands on receipts, and tells tasks when their epoch is over."""

    def __init__(
        self, token: str, on_receipts: Callable[[int, list[Receipt]], None], host: str = "127.0.0.1"
    ) -> None:
        self._token = token
        self._on_receipts = on_receipts
        self._listener = socket.create_server((host, 0))
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self._lock = threading.Lock()
        self._tasks: dict[socket.socket, int] = {}
        self._ended_epoch = -1
        threading.Thread(target=self._accept, name="channel", daemon=True).start()

    def end_epoch(self, epoch: int) -> None:
        """Tell every task of this epoch, connected or still to come, to finish."""
        with self._lock:
            self._ended_epoch = max(self._ended_epoch, epoch)
            for task, its_epoch in self._tasks.items():
                if its_epoch <= epoch:
                    _tell_end(task)

    def close(self) -> None:
        # A thread that waits on a socket keeps it open after `close`; only `shutdown` wakes it.
        _shut_down(self._listener)
        self._listener.close()
        with self._lock:
            for task in self._tasks:
                _shut_down(task)

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
                    self._hear(epoch, json.loads(line))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as e:
            log.info("channel: a task's connection ended: %s", e)
        finally:
            with self._lock:
                self._tasks.pop(task, None)

    def _hear(self, epoch: int, message: dict[str, Any]) -> None:
        if "message" in message:
            log.log(message["level"], "%s", message["message"])
        else:
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
            if epoch <= self._ended_epoch:
                _tell_end(task)


def _tell_end(task: socket.socket) -> None:
    try:
        task.sendall(b"end\n")
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
