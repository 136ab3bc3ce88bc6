"""The driver's end of the control channel: grants leases, receives receipts, ends epochs.

The protocol is described in `control_channel.py`.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heliograph.client.net.log_throttle import LogThrottle
from heliograph.errors import EnvironmentProblem
from heliograph.measured import TaskReport
from heliograph.model import SILENT_SECONDS, Receipt
from heliograph.plan.grants import Grants, Hello
from heliograph.security import Secret
from heliograph.spark.control_channel import HELLO_SECONDS
from heliograph.spark.receipt_codec import from_json
from heliograph.spark.signed_lines import (
    DRIVER,
    TASK,
    ForgedLine,
    SignedLines,
    is_proof,
    new_nonce,
)
from heliograph.spark.task_report_codec import report_from_json

log = logging.getLogger(__name__)

#: Bytes of one message: a receipt takes about 300, and a task rarely has 10,000 of them; a range takes 40,
#: and a copy loop sends at most 50,000 at a time.
_MAX_LINE = 16 << 20
_MAX_HELLO = 4096
#: Connections without a valid hello at the same time; each has a thread. If there are more, the oldest is
#: closed: a task sends its hello at once.
_MAX_UNPROVEN = 64
_WAIT_SECONDS = 0.05
#: A task has stopped this long after its leases have lapsed: it checks with every step.
_NOTICE_SECONDS = 1.0


@dataclass(slots=True)
class _Task:
    epoch: int
    number: int
    asked: float  # when its last question arrived; its leases lapse at most SILENT_SECONDS later
    signs: SignedLines


class ChannelServer:
    """`on_receipts(epoch, receipts)`, `on_reports(epoch, task, reports)`, `on_done(epoch, task)` after the
    last of them, and `on_gone(epoch, task)` if a connection ended before that, are called in threads of the
    channel, and must not block. A `port` of 0 means any free one. Raises EnvironmentProblem if the port
    cannot be used."""

    def __init__(
        self,
        key: Secret,
        on_receipts: Callable[[int, list[Receipt]], None],
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        on_done: Callable[[int, int], None] = lambda epoch, task: None,
        on_gone: Callable[[int, int], None] = lambda epoch, task: None,
        on_reports: Callable[[int, int, list[TaskReport]], None] = lambda epoch, task, its: None,
    ) -> None:
        self._key = key
        self._on_receipts = on_receipts
        self._on_done = on_done
        self._on_gone = on_gone
        self._on_reports = on_reports
        try:
            self._listener = socket.create_server((host, port))
        except OSError as e:
            raise EnvironmentProblem(
                f"the driver cannot listen for its tasks at {host}:{port}: {e}; set driver.channel.host and "
                "driver.channel.port to an address of this machine and a free port"
            ) from e
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self._lock = threading.Lock()  # for everything below, and for writing to tasks
        self._grants = Grants()
        self._unproven: dict[socket.socket, None] = {}  # oldest first
        self._repeats = LogThrottle()
        self._tasks: dict[socket.socket, _Task] = {}
        #: The last epoch that was ended, for all flows ("") and for single ones.
        self._ended: dict[str, int] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._accept, name="channel", daemon=True).start()

    def open_epoch(self, epoch: int) -> None:
        """Grant the leases of this epoch, each once, and no others."""
        with self._lock:
            self._grants.open(epoch)

    def end_epoch(self, epoch: int, flow: str = "") -> None:
        """Have all tasks of this epoch, also those that connect later, finish; or finish one flow."""
        with self._lock:
            self._ended[flow] = max(self._ended.get(flow, -1), epoch)
            for line, task in self._tasks.items():
                if task.epoch <= epoch:
                    _send_line(line, task.signs, f"end {flow}".strip())

    def set_share(self, epoch: int, number: int, flow: str, share: float) -> None:
        """Tell a task its share of the rate of a throttled flow."""
        with self._lock:
            for line, task in self._tasks.items():
                if (task.epoch, task.number) == (epoch, number):
                    _send_line(line, task.signs, f"share {share:.6f} {flow}")

    def withdraw(self, epoch: int, patience: float, stopped: Callable[[], bool]) -> None:
        """End an epoch that failed: when this returns, no task copies under its leases.

        Connections of tasks that do not end within `patience` seconds are closed. A task that cannot be
        reached stops when its leases lapse; this waits for that, unless `stopped`.
        """
        with self._lock:
            self._grants.close()
        self.end_epoch(epoch)
        if self.await_gone(epoch, patience, stopped):
            return
        log.warning("epoch %d: tasks still running after %g s; disconnecting them", epoch, patience)
        with self._lock:
            for line, task in self._tasks.items():
                if task.epoch <= epoch:
                    _shut_down(line, socket.SHUT_WR)  # the task closes its end when it has stopped
        if not self.await_gone(epoch, SILENT_SECONDS + 2 * _NOTICE_SECONDS, stopped):
            log.warning("epoch %d: tasks still running; continuing without them", epoch)

    def await_gone(
        self, epoch: int, timeout: float, stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until no task of this epoch or an earlier one is left: all are done, or their leases have
        lapsed. False if that takes longer than `timeout`."""
        deadline = time.monotonic() + timeout
        while self._any_task(epoch):
            if stopped() or self._closed.wait(_WAIT_SECONDS) or time.monotonic() > deadline:
                return not self._any_task(epoch)
        return True

    def close(self) -> None:
        self._closed.set()
        # A thread that waits on a socket keeps it open after `close`; only `shutdown` wakes it.
        _shut_down(self._listener)
        self._listener.close()
        with self._lock:
            for line in self._tasks:
                _shut_down(line)

    def _any_task(self, epoch: int) -> bool:
        lapsed = time.monotonic() - SILENT_SECONDS - _NOTICE_SECONDS
        with self._lock:
            return any(t.epoch <= epoch and t.asked > lapsed for t in self._tasks.values())

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return  # closed: the service is stopping
            self._note_unproven(line)
            threading.Thread(
                target=self._serve, args=(line,), name="channel-task", daemon=True
            ).start()

    def _note_unproven(self, line: socket.socket) -> None:
        with self._lock:
            self._unproven[line] = None
            oldest = next(iter(self._unproven))
            crowded = len(self._unproven) > _MAX_UNPROVEN
            if crowded:
                del self._unproven[oldest]
                _shut_down(oldest)  # its thread closes it
        if crowded:
            self._refused(f"the oldest of more than {_MAX_UNPROVEN} connections without a hello")

    def _serve(self, line: socket.socket) -> None:
        with line:
            hello, checks = self._admit(line)
            if hello is None or checks is None:
                return
            done = False
            try:
                done = self._attend(line, hello, checks)
            except (OSError, ValueError, KeyError, TypeError, RecursionError, ForgedLine) as e:
                log.info("channel: a task's connection ended: %s", e)
            finally:
                with self._lock:
                    self._tasks.pop(line, None)
        if not done and not self._closed.is_set():
            self._on_gone(hello.epoch, hello.task)

    def _attend(self, line: socket.socket, hello: Hello, checks: SignedLines) -> bool:
        """Until the task disconnects. Returns whether it was done."""
        done = False
        line.settimeout(None)
        with line.makefile("rb") as messages:
            while text := messages.readline(_MAX_LINE):
                message = json.loads(checks.check(text))
                self._process(line, hello, message)
                done = done or "done" in message
        return done

    def _admit(self, line: socket.socket) -> tuple[Hello | None, SignedLines | None]:
        """Returns the hello of a task that was granted its leases, and the check of its lines. Any program
        can connect, but must send a valid hello within `HELLO_SECONDS`."""
        try:
            challenge = new_nonce()
            line.settimeout(HELLO_SECONDS)
            line.sendall(f"{challenge}\n".encode())
            sent = json.loads(_first_line(line, time.monotonic() + HELLO_SECONDS))
            hello = Hello(_whole(sent["epoch"]), _whole(sent["task"]), str(sent["attempt"]))
            nonce = str(sent["nonce"])
            if not is_proof(sent["proof"], self._key, "hello", challenge, nonce, *map(str, hello)):
                raise ValueError("wrong key")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as e:
            self._refused(f"a connection that is not from a task: {type(e).__name__}: {e}")
            return None, None
        finally:
            with self._lock:
                self._unproven.pop(line, None)
        granted = self._grant(line, hello, SignedLines(self._key, DRIVER, challenge, nonce))
        return (hello, SignedLines(self._key, TASK, challenge, nonce)) if granted else (None, None)

    def _refused(self, what: str) -> None:
        """Logged at intervals, however many there are."""
        if not self._closed.is_set() and self._repeats.is_news("refused", ""):
            log.warning("channel: refused %s (not logged each time)", what[:200])

    def _grant(self, line: socket.socket, hello: Hello, signs: SignedLines) -> bool:
        """Whether this attempt may copy. Sends the answer, with the cause of a refusal."""
        with self._lock:
            refusal = self._grants.refusal(hello)
            if refusal is None:
                self._tasks[line] = _Task(hello.epoch, hello.task, time.monotonic(), signs)
                _send_line(line, signs, "granted")
                for flow, ended in self._ended.items():
                    if hello.epoch <= ended:
                        _send_line(line, signs, f"end {flow}".strip())
                return True
            _send_line(line, signs, f"refused {refusal}")
        log.warning(
            "epoch %d, task %d: attempt %s may not copy: %s",
            *hello,
            refusal,
        )
        return False

    def _process(self, line: socket.socket, hello: Hello, message: dict[str, Any]) -> None:
        if "ask" in message:
            with self._lock:
                task = self._tasks[line]
                task.asked = time.monotonic()
                _send_line(line, task.signs, f"alive {_whole(message['ask'])}")
        elif "message" in message:
            log.log(message["level"], "%s", message["message"])
        elif "receipts" in message:
            self._on_receipts(hello.epoch, [from_json(fields) for fields in message["receipts"]])
        elif "tasks" in message:
            reports = [report_from_json(fields) for fields in message["tasks"]]
            self._on_reports(hello.epoch, hello.task, reports)
        elif "done" in message:
            self._on_done(hello.epoch, hello.task)


def _whole(number: Any) -> int:
    """`int()` would fail for Infinity, which Python's JSON accepts."""
    if not isinstance(number, int):
        raise ValueError(f"{number!r} is not a whole number")
    return number


def _first_line(line: socket.socket, deadline: float) -> bytes:
    """The whole line by the deadline: sending it byte by byte gives a client no more time."""
    text = b""
    while not text.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or len(text) >= _MAX_HELLO:
            raise ValueError(f"no hello of at most {_MAX_HELLO} bytes within {HELLO_SECONDS:g} s")
        line.settimeout(left)
        received = line.recv(_MAX_HELLO - len(text))
        if not received:
            raise ValueError("disconnected without a hello")
        text += received
    return text


def _send_line(line: socket.socket, signs: SignedLines, words: str) -> None:
    """Without blocking: lines are few and short, so a full buffer means that the task does not read."""
    try:
        line.send(signs.sign(words.encode()), socket.MSG_DONTWAIT)
    except OSError as e:
        log.info("channel: cannot write to a task: %s", e)


def _shut_down(line: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    try:
        line.shutdown(how)
    except OSError as e:
        log.debug("channel: closed already: %s", e)
