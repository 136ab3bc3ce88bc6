"""One connection to one broker: sends requests, and hands each response to its callback.

Responses come in the order of the requests (the broker mutes a connection while it works on a request), so a
queue of expected responses is enough. The socket never blocks: the copy loop drives many connections from one
thread with `pump`; `call` waits. A response is received into one buffer of its size, and records stay views
into it.

Where a session ends with its token, the connection logs in again before that (KIP-368): requests in flight
are answered first, and new ones are held back, since a broker accepts no other request during a login.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from heliograph.client.fetch.fetch_memory import Body
from heliograph.client.net.half_open import HALF_OPEN
from heliograph.client.net.meter import Meter
from heliograph.client.net.negotiation import negotiate
from heliograph.client.net.poller import wait
from heliograph.client.net.transport import Transport, connect
from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.client.security.login import Login
from heliograph.errors import ConnectionLost, Interrupted, NoAnswer, NotKafka
from heliograph.wire import messages
from heliograph.wire.frame import SIZE, Piece, describe_garbage, frame

#: A response is never larger, unless more was asked for; a larger length field is not Kafka's protocol.
MAX_FRAME_BYTES = 256 << 20
#: The buffer of a response starts at what was asked for, at most, or at this, and grows as it fills: a false
#: length field costs no memory.
_FIRST_BUFFER_BYTES = 16 << 20
#: Per sendmsg; the kernel's limit is IOV_MAX (1024).
_PIECES = 512
_STOP_CHECK_SECONDS = 0.2
#: For TLS, versions and login, as in Java's clients (socket.connection.setup.timeout.ms).
_NEGOTIATE_SECONDS = 10.0
#: The part of a session after which a login is renewed, at random as in Java's clients.
_RENEWAL = (0.85, 0.95)


class _Expected(NamedTuple):
    correlation_id: int
    asked: float
    deadline: float
    on_answer: Callable[[memoryview], None] | None  # None: the response is dropped
    asked_bytes: int
    is_login: bool
    is_timed: bool


class _Request(NamedTuple):
    """A request that may be held back; `asked_bytes` and `broker_waits` as in `Connection.send`."""

    pieces: Sequence[Piece]
    correlation_id: int
    on_answer: Callable[[memoryview], None] | None
    asked_bytes: int = _FIRST_BUFFER_BYTES
    broker_waits: float = 0.0
    is_timed: bool = False


class Connection:
    """A connection that has negotiated API versions with its broker, and logged in if that is configured."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        client_id: str,
        timeout: float = 30.0,
        connect_timeout: float = 3.0,
        stopped: Callable[[], bool] = lambda: False,
        access: ConnectionSecurity | None = None,
        transport: Transport | None = None,
        meter: Meter | None = None,
    ) -> None:
        """Returns once requests can be sent; `stopped` ends the wait for that. `transport`: one that is open
        already, to this host and port."""
        self._meter = meter or Meter()
        self.address = f"{host}:{port}"
        self._host = host
        self._access = access or ConnectionSecurity()
        self.logins = 0
        self._login: Login | None = None  # in progress
        self._login_due = float("inf")
        self._held: list[_Request] = []  # until the login is done
        self._answers = 0
        self._last_response = time.monotonic()
        self.client_id = client_id
        self.timeout = timeout
        self.versions: messages.Versions = {}
        self.features: Mapping[str, int] = {}  # finalized ones of the cluster (KIP-584)
        self._expected: deque[_Expected] = deque()
        self._correlation_id = 0
        self._outgoing: deque[memoryview] = deque()
        self._size = bytearray(SIZE.size)
        self._incoming = memoryview(self._size)  # the buffer being filled: a size, then a body
        self._filled = 0
        self._body: Body | None = None
        self._missing = 0  # bytes of the body that `_body` has no room for yet
        self._transport = transport or self._access.transport(
            connect(host, port, connect_timeout),
            host=host,
            address=self.address,
            timeout=_NEGOTIATE_SECONDS,
            stopped=stopped,
        )
        try:
            self.timeout = min(timeout, _NEGOTIATE_SECONDS)
            self._negotiate(stopped)
            if self._access.logs_in:
                self._log_in(stopped)
            self.timeout = timeout
            self._answers = 0
        except BaseException:
            self.close()
            raise

    @property
    def certificate_ends(self) -> float | None:
        """When the broker's certificate expires, in seconds since 1970; None without TLS."""
        return self._transport.certificate_ends

    # ── sending ──────────────────────────────────────────────────────────────────────────────

    def send(
        self,
        api_key: int,
        version: int,
        body: Sequence[Piece],
        on_answer: Callable[[memoryview], None],
        *,
        asked_bytes: int = _FIRST_BUFFER_BYTES,
        broker_waits: float = 0.0,
    ) -> None:
        """Queue a hand-built request and write as much as the socket takes; `pump` writes the rest.

        `asked_bytes`: the largest response that the request allows; `broker_waits`: the seconds that the
        broker was asked to wait before it answers.
        """
        self._renew_login()
        self._correlation_id += 1
        pieces = frame(api_key, version, self._correlation_id, self.client_id, body)
        self._queue(
            _Request(
                pieces,
                self._correlation_id,
                lambda body: on_answer(body[4:]),
                asked_bytes,
                broker_waits,
                is_timed=True,
            )
        )
        self._write()

    def call(self, request: Any, *, stopped: Callable[[], bool] = lambda: False) -> Any:
        """Send one of kafka-python's requests and wait for its decoded response.

        A wait that `stopped` ends leaves the connection unusable, as every `ConnectionLost` does.
        """
        return self.call_all([request], stopped=stopped)[0]

    def call_all(
        self, requests: Sequence[Any], *, stopped: Callable[[], bool] = lambda: False
    ) -> list[Any]:
        """As `call`, for several requests, all sent before the first response is awaited."""
        answers: list[Any] = []
        for request in requests:
            self.ask(request, answers.append)
        self._write()
        self._wait_until(lambda: len(answers) == len(requests), stopped)
        return answers

    def ask(self, request: Any, on_answer: Callable[[Any], None]) -> None:
        """Queue one of kafka-python's requests; `pump` writes it, and passes the decoded response on."""
        self._renew_login()
        self._queue(self._encoded(request, on_answer))

    def forget(self) -> None:
        """Drop the callbacks of all requests in flight; their responses are read and dropped."""
        self._expected = deque(
            e if e.is_login else e._replace(on_answer=None) for e in self._expected
        )
        self._held = [request._replace(on_answer=None) for request in self._held]

    @property
    def in_flight(self) -> int:
        return len(self._expected) + len(self._held)

    @property
    def is_trusted(self) -> bool:
        """Whether to send more over it: not if it is idle, and another connection has gone silent since its
        last response (`half_open.py`)."""
        return bool(self.in_flight) or not HALF_OPEN.covers(self._last_response)

    @property
    def wants_write(self) -> bool:
        return bool(self._outgoing) or self._transport.wants_write

    def fileno(self) -> int:
        return self._transport.fileno()

    # ── receiving ────────────────────────────────────────────────────────────────────────────

    def pump(self) -> None:
        """Write and read what is possible without waiting; pass complete responses to their callbacks."""
        self._renew_login()
        self._write()
        while True:
            try:
                received = self._transport.receive(self._incoming[self._filled :])
            except OSError as e:
                raise ConnectionLost(f"{self.address}: connection broke: {e.strerror}") from e
            if received is None:
                break
            if received == 0:
                raise self._closed()
            self._filled += received
            self._meter.received_bytes += received
            if self._filled == len(self._incoming):
                if self._missing:
                    self._grow()
                else:
                    self._filled = 0
                    self._advance()
        if self._expected and self._expected[0].deadline < time.monotonic():
            if self.versions:  # before that, the broker has never answered
                HALF_OPEN.note(self._expected[0].asked)
            raise NoAnswer(f"{self.address}: no answer within {self.timeout:g} s")

    def close(self) -> None:
        self._transport.close()

    def _closed(self) -> ConnectionLost:
        hint = ""
        if self.versions and not self._answers and not self._access.logs_in:
            protocol = "SASL_PLAINTEXT" if self._access.security.tls is None else "SASL_SSL"
            hint = (
                " at the first request; a listener that wants SASL does that "
                f"(security.protocol={protocol}; Strimzi: add authentication)"
            )
        return ConnectionLost(f"{self.address}: the broker closed the connection{hint}")

    def _advance(self) -> None:
        if self._body is None:
            self._begin_body()
            return
        body, self._body = self._incoming, None
        self._incoming = memoryview(self._size)
        expected = self._expected.popleft()
        (correlation_id,) = SIZE.unpack_from(body)
        if correlation_id != expected.correlation_id:
            raise NotKafka(
                f"{self.address}: expected the response to request {expected.correlation_id}, found "
                f"one to request {correlation_id}"
            )
        self._answers += 1
        self._last_response = time.monotonic()
        if expected.is_timed:
            self._meter.requests.note(self._last_response - expected.asked)
        if expected.on_answer is not None:
            expected.on_answer(body)

    def _begin_body(self) -> None:
        (size,) = SIZE.unpack(self._size)
        asked = self._expected[0].asked_bytes if self._expected else 0
        if not 4 <= size <= max(MAX_FRAME_BYTES, asked) or not self._expected:
            found = describe_garbage(bytes(self._size), logs_in=self._access.logs_in)
            raise NotKafka(
                f"{self.address}: expected Kafka's protocol, but {found}; check the port of "
                "bootstrap.servers"
            )
        self._body = Body(min(size, asked))
        self._missing = size - len(self._body)
        self._incoming = memoryview(self._body)

    def _grow(self) -> None:
        assert self._body is not None
        more = min(self._missing, len(self._body))
        self._incoming.release()
        self._body += bytes(more)
        self._missing -= more
        self._incoming = memoryview(self._body)

    def _wait_until(self, ready: Callable[[], bool], stopped: Callable[[], bool]) -> None:
        while not ready():
            wait([self], _STOP_CHECK_SECONDS)
            self.pump()
            if not ready() and stopped():
                raise Interrupted(f"{self.address}: stopped while waiting for an answer")

    def _encoded(self, request: Any, on_answer: Callable[[Any], None]) -> _Request:
        self._correlation_id += 1
        data, decode = messages.encode(request, self.versions, self._correlation_id, self.client_id)
        return _Request([data], self._correlation_id, lambda body: on_answer(decode(body)))

    def _queue(self, request: _Request) -> None:
        if self._login is not None:
            self._held.append(request)
            return
        self._send_now(request)

    def _send_now(self, request: _Request, *, is_login: bool = False) -> None:
        now = time.monotonic()
        self._expected.append(
            _Expected(
                request.correlation_id,
                now,
                now + self.timeout + request.broker_waits,
                request.on_answer,
                request.asked_bytes,
                is_login,
                request.is_timed,
            )
        )
        self._outgoing.extend(memoryview(piece) for piece in request.pieces)

    def _write(self) -> None:
        outgoing = self._outgoing
        while outgoing:
            pieces = list(islice(outgoing, _PIECES))
            try:
                sent = self._transport.send(pieces)
            except OSError as e:
                raise ConnectionLost(f"{self.address}: connection broke: {e.strerror}") from e
            if sent is None:
                return
            self._meter.sent_bytes += sent
            while outgoing and sent >= len(outgoing[0]):
                sent -= len(outgoing.popleft())
            if sent:
                outgoing[0] = outgoing[0][sent:]

    def _negotiate(self, stopped: Callable[[], bool]) -> None:
        self.versions, self.features = negotiate(self.address, self.call, stopped)

    # ── logging in ───────────────────────────────────────────────────────────────────────────

    def _log_in(self, stopped: Callable[[], bool]) -> None:
        self._begin_login()
        self._wait_until(lambda: self._login is None, stopped)

    def _renew_login(self) -> None:
        if self._login is None and time.monotonic() >= self._login_due:
            self._begin_login()

    def _begin_login(self) -> None:
        self._login_due = float("inf")
        login = Login(self._access, self._host, self.address, self._ask)
        self._login = login
        login.start()
        self._write()

    def _ask(self, request: Any, on_answer: Callable[[Any], None]) -> None:
        """Send one request of the login."""

        def answered(response: Any) -> None:
            on_answer(response)
            if self._login is not None and self._login.done:
                self._end_login(self._login.lifetime)

        self._send_now(self._encoded(request, answered), is_login=True)
        self._write()

    def _end_login(self, lifetime: float) -> None:
        self._login = None
        self.logins += 1
        if lifetime:
            self._login_due = time.monotonic() + lifetime * random.uniform(*_RENEWAL)
        held, self._held = self._held, []
        for request in held:
            self._send_now(request)
        self._write()
