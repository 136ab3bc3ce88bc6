"""Writes bookkeeping records to an internal topic in a background thread, so that the copy does not wait.

If the topic is missing or not writable, that is logged once and retried; meanwhile the newest record of each
key is kept.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.counted import counted
from heliograph.errors import BrokerError, ClientError, HeliographError
from heliograph.model import ClientKind, ClusterConfig
from heliograph.records.decode import Header, Record
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error

log = logging.getLogger(__name__)

_PATIENCE_SECONDS = 5.0
#: After a write the thread pauses this many times as long: bookkeeping takes at most a twentieth of the time,
#: however many partitions there are.
_REST = 20
_MAX_REST_SECONDS = 1.0
#: An error that lasts longer is treated as permanent.
_FATAL_SECONDS = 600.0


#: Unused clients by client id: their connections are reused from one epoch to the next.
_spare: dict[str, ClusterClient] = {}
_spare_lock = threading.Lock()


#: By key, the values to write with their headers, oldest first.
_Values = dict[bytes, tuple[tuple[bytes | None, tuple[Header, ...]], ...]]


class BackgroundWriter(threading.Thread):
    """At most one write is in flight. `what` names the records in log lines; the newest `history` values of
    each key are kept. Nothing is written once the leases have `lapsed`, as it would hide the records of a
    successor."""

    def __init__(
        self,
        config: ClusterConfig,
        topic: str,
        *,
        client_id: str,
        what: str,
        history: int = 1,
        lapsed: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(name=f"{client_id} {topic}", daemon=True)
        self.topic = topic
        self.problem: str | None = None
        self.fatal = False  # the problem does not pass by waiting, or lasts
        self.failures = 0  # failed attempts in total
        self._what = what
        self._history = history
        self._lapsed = lapsed
        self._waiting: _Values = {}
        self._writing = False
        self._closing = False
        self._hurried = False
        self._abandoned = False
        self._condition = threading.Condition()
        self._client = _take_client(config.for_client(ClientKind.PRODUCER), client_id)
        self._client.stopped = lambda: self._abandoned or lapsed()
        self._writer = RecordWriter(self._client, topic)
        self._backoff = Backoff(first=1.0, most=30.0)
        self._failing_since = 0.0

    def offer(self, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        """A key that gets a newer value moves to the end of the queue."""
        self.offer_with_headers((key, value, ()) for key, value in records)

    def offer_with_headers(
        self, records: Iterable[tuple[bytes, bytes | None, tuple[Header, ...]]]
    ) -> None:
        with self._condition:
            for key, value, headers in records:
                older = self._waiting.pop(key, ())
                self._waiting[key] = (*older, (value, headers))[-self._history :]
            self._condition.notify_all()

    @property
    def settled(self) -> bool:
        """Whether everything offered so far is written, or cannot be written."""
        return self.idle or self.fatal

    @property
    def idle(self) -> bool:
        """Whether everything offered so far is written."""
        return not self._waiting and not self._writing

    def close(self, patience: float) -> None:
        """Write what is queued, unless the topic has a problem; then stop writing."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        self.join(patience)
        self._abandoned = True
        left = sum(map(len, self._waiting.values()))
        if left:
            lost = counted(left, "record")
            log.warning("%s: not written at the end of the epoch: %s", self._what, lost)

    def wait_idle(self, patience: float) -> None:
        """Wait until everything is written, at most `patience` seconds, and not once the topic has a problem.
        Meanwhile the thread does not pause between writes."""
        deadline = time.monotonic() + patience
        with self._condition:
            self._hurried = True
            self._condition.notify_all()
            while not self.idle and self.problem is None and self.is_alive():
                if not self._condition.wait(max(deadline - time.monotonic(), 0.0)):
                    break
            self._hurried = False

    def run(self) -> None:
        try:
            while records := self._next():
                began = time.monotonic()
                self._attempt(records)
                self._rest(min((time.monotonic() - began) * _REST, _MAX_REST_SECONDS))
        finally:
            _give_back(self._client)

    def _next(self) -> _Values:
        with self._condition:
            while not self._waiting and not self._closing:
                self._condition.wait()
            if self._abandoned or self._lapsed() or (self._closing and self.problem is not None):
                return {}
            taken, self._waiting = self._waiting, {}
            self._writing = bool(taken)
            return taken

    def _attempt(self, records: _Values) -> None:
        try:
            self._write(records)
        except HeliographError as e:
            self._failed(records, e)
            self._rest(self._backoff.next())
            return
        if self.problem is not None:
            log.warning("%s: writing succeeds again after %d failures", self._what, self.failures)
        with self._condition:
            self.problem = None
            self.fatal = False
            self._writing = False
            self._condition.notify_all()
        self._backoff.reset()

    def _write(self, records: _Values) -> None:
        if not self._writer.partitions():
            raise broker_error(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"{self._client.config.alias}: {self._writer.topic}",
            )
        now = int(time.time() * 1000)
        batch = [
            Record(timestamp=now, key=key, value=value, headers=headers)
            for key, values in records.items()
            for value, headers in values
        ]
        self._writer.write({0: batch}, patience=_PATIENCE_SECONDS)

    def _failed(self, records: _Values, error: HeliographError) -> None:
        self.failures += 1
        now = time.monotonic()
        if self.problem is None:
            self._failing_since = now
            log.warning("%s: %s; retrying, the copy continues", self._what, error)
        with self._condition:
            self.fatal = not _passes(error) or now - self._failing_since > _FATAL_SECONDS
            for key, values in self._waiting.items():
                records[key] = (*records.pop(key, ()), *values)[-self._history :]
            self._waiting = records
            self.problem = str(error)
            self._writing = False
            self._condition.notify_all()

    def _rest(self, seconds: float) -> None:
        """Pause, unless `close` or `wait_idle` is called."""
        deadline = time.monotonic() + seconds
        with self._condition:
            while (
                not (self._closing or self._hurried) and (left := deadline - time.monotonic()) > 0
            ):
                self._condition.wait(left)


def _passes(error: HeliographError) -> bool:
    """Whether waiting helps: a broker returns by itself; a missing topic or permission needs an operator."""
    if isinstance(error, BrokerError) and error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return False
    return isinstance(error, ClientError) and error.retriable


def _take_client(config: ClusterConfig, client_id: str) -> ClusterClient:
    with _spare_lock:
        client = _spare.pop(client_id, None)
    if client is not None and client.config == config:
        return client
    if client is not None:
        client.close()
    return ClusterClient(config, client_id=client_id)


def _give_back(client: ClusterClient) -> None:
    """Keep the client for the next epoch, unless a newer one is kept already: this thread may have hung."""
    with _spare_lock:
        if _spare.setdefault(client.client_id, client) is client:
            return
    client.close()
