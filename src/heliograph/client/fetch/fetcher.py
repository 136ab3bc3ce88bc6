"""The source side of a flow: keeps one fetch in flight to every broker that leads a partition of it.

Fetch sessions (KIP-227) keep requests and responses small however many partitions are idle: a request names
only partitions whose position changed since the last one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heliograph.client.fetch.fetch_memory import FetchMemory
from heliograph.client.fetch.round_size import RoundSize
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.net.connection import Connection
from heliograph.client.net.log_throttle import LogThrottle
from heliograph.errors import ClientError
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.wire import fetch, messages
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchedPartition, FetchLimits

log = logging.getLogger(__name__)

#: A partition with an error is not fetched for this long, so that errors do not become a busy loop.
_PENALTY_SECONDS = 0.2
#: Of a response, beside records: about 100 bytes for each partition.
_ANSWER_OVERHEAD = 1 << 20
_SESSION_LOST = frozenset(
    {ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH}
)


@dataclass(slots=True)
class _Session:
    id: int = 0
    epoch: int = 0
    sent: dict[TopicPartition, int] = field(default_factory=dict)
    #: Up to where the broker lets us read: in its first response with a partition, and whenever that
    #: changes (KIP-227).
    ends: dict[TopicPartition, int] = field(default_factory=dict)
    connection: Connection | None = None  # of the fetch in flight

    def reset(self) -> None:
        self.id = self.epoch = 0
        self.sent = {}
        self.ends = {}


class Fetcher:
    """Fetches what `positions` names. Its owner moves the positions; the fetcher never does.

    `on_records` gets a partition's response: records, or an error code, also for a missing leader.
    `on_nothing` gets the partitions of a fetch that returned no record within its maximum wait, each with
    the end that its leader lets us read to: that of a new leader lags behind at first, and then an empty
    response does not mean that there is nothing. Both are called only for partitions that have not moved
    since the fetch was sent. `on_leaders` gets the epochs of new leaders before anything is fetched from
    them, and `on_metadata` is called before anything is fetched by new metadata: the log may be another than
    the one read so far, or the topic another of the same name, and the owner may remove the position.

    With `round_bytes`, all fetches together ask for about that much at a time (`RoundSize`), each in
    proportion to the partitions that its broker leads. `held` counts the memory of responses.
    """

    def __init__(
        self,
        cluster: ClusterClient,
        *,
        isolation_level: IsolationLevel,
        limits: FetchLimits,
        on_records: Callable[[FetchedPartition], None],
        on_nothing: Callable[[Mapping[TopicPartition, int]], None] | None,
        on_leaders: Callable[[Mapping[TopicPartition, int]], None] = lambda _: None,
        on_metadata: Callable[[], None] = lambda: None,
        round_bytes: int | None = None,
    ) -> None:
        self.cluster = cluster
        self.held = FetchMemory()
        self.fetched_bytes = 0  # of records, in all
        self.positions: dict[TopicPartition, int] = {}
        self._isolation_level = isolation_level
        self._limits = limits
        self.round = RoundSize(round_bytes)
        self._on_records = on_records
        self._on_nothing = on_nothing
        self._on_leaders = on_leaders
        self._on_metadata = on_metadata
        self._leader_epochs: dict[TopicPartition, int] = {}
        self._compared: Metadata | None = None  # whose epochs are known
        self._sessions: dict[int, _Session] = {}
        self._penalty: dict[TopicPartition, float] = {}
        #: The metadata and positions that all sessions are up to date with; None: they are not.
        self._routed: tuple[Metadata, dict[TopicPartition, int]] | None = None
        self._stale = True
        self._refreshed = 0.0
        self._repeats = LogThrottle()

    def connections(self) -> list[Connection]:
        return [s.connection for s in self._sessions.values() if s.connection is not None]

    def send(self) -> None:
        """Start a fetch on every broker that has none in flight and something to fetch."""
        if self._sessions and all(s.connection is not None for s in self._sessions.values()):
            return  # the common case under load; a new broker is included after a response
        now = time.monotonic()
        self._route(now)
        if self._is_settled():
            for node, session in list(self._sessions.items()):
                if session.connection is None:
                    self._send(node, session, session.sent)
            return
        self._compare_epochs()
        complete = True
        for node, wanted in self._wanted(now).items():
            session = self._sessions.setdefault(node, _Session())
            if session.connection is not None:
                complete = complete and session.sent == wanted
            elif wanted or session.sent:
                self._send(node, session, wanted)
            else:
                del self._sessions[node]  # it leads no partition of ours any more
        if complete and not self._stale and not self._penalty:
            self._routed = (self.cluster.metadata, dict(self.positions))

    def _is_settled(self) -> bool:
        """Whether nothing has changed since all sessions were up to date: then thousands of idle partitions
        need not be compared one by one."""
        if self._routed is None:
            return False
        metadata, positions = self._routed
        return metadata is self.cluster.metadata and positions == self.positions

    def pump(self) -> None:
        for node, session in list(self._sessions.items()):
            if session.connection is not None:
                try:
                    session.connection.pump()
                except ClientError as e:
                    self._lost(node, e)

    def close(self) -> None:
        """Responses in flight are read and dropped, so connections stay usable; sessions expire on the
        broker."""
        for connection in self.connections():
            connection.forget()
        self._sessions = {}

    def _wanted(self, now: float) -> dict[int, dict[TopicPartition, int]]:
        leaders = self.cluster.metadata.leaders
        self._routed = None
        self._penalty = {p: until for p, until in self._penalty.items() if until > now}
        wanted: dict[int, dict[TopicPartition, int]] = {node: {} for node in self._sessions}
        for partition, position in self.positions.items():
            node = leaders.get(partition)
            if node is None:
                self._stale = True
            elif partition not in self._penalty:
                wanted.setdefault(node, {})[partition] = position
        return wanted

    def _route(self, now: float) -> None:
        """Refresh metadata when a leader has moved or is unknown, at most a few times a second."""
        if not self._stale or now - self._refreshed < _PENALTY_SECONDS:
            return
        self._refreshed = now
        self.cluster.refresh({partition.topic for partition in self.positions})
        self._on_metadata()
        metadata = self.cluster.metadata
        leaderless = [p for p in self.positions if p not in metadata.leaders]
        self._stale = bool(leaderless)
        for partition in leaderless:
            code, nothing = metadata.why_leaderless(partition), memoryview(b"")
            self._on_records(FetchedPartition(*partition, code, -1, -1, -1, [], nothing))
        gone = set(self._sessions) - set(metadata.nodes)
        for node in gone:
            del self._sessions[node]

    def _compare_epochs(self) -> None:
        """After new metadata, and for partitions added since: without an epoch in the request, a leader that
        has truncated its log would answer as if nothing had happened."""
        metadata, known = self.cluster.metadata, self._leader_epochs
        if metadata is self._compared and self.positions.keys() <= known.keys():
            return
        self._compared, found = metadata, metadata.leader_epochs
        news = {p: found[p] for p in self.positions if p in found and found[p] != known.get(p)}
        if not news:
            return
        known |= news
        for session in self._sessions.values():
            session.sent |= dict.fromkeys(
                news.keys() & session.sent.keys(), -1
            )  # to be named again
        self._on_leaders(news)

    def _send(self, node: int, session: _Session, wanted: dict[TopicPartition, int]) -> None:
        changed, forgotten = _differences(session.sent, wanted)
        for partition in (*forgotten, *(p for p in changed if session.sent.get(p, -1) < 0)):
            session.ends.pop(partition, None)
        limits = self._limits_for(len(wanted))
        body = fetch.encode_request(
            limits=limits,
            isolation_level=self._isolation_level.wire,
            session=(session.id, session.epoch),
            offsets=changed,
            leader_epochs=self._leader_epochs,
            forgotten=forgotten,
        )
        try:
            connection = self.cluster.connection(node)
            messages.pick_version(
                "Fetch", fetch.API_KEY, range(fetch.VERSION, 12), connection.versions
            )
            connection.send(
                fetch.API_KEY,
                fetch.VERSION,
                [body],
                lambda answer: self._answered(node, answer),
                asked_bytes=limits.max_bytes + _ANSWER_OVERHEAD,
                broker_waits=limits.max_wait_ms / 1000,
            )
        except ClientError as e:
            self._lost(node, e)
        else:
            session.sent = wanted
            session.connection = connection

    def _limits_for(self, partitions: int) -> FetchLimits:
        round_bytes = self.round.bytes
        if round_bytes is None:
            return self._limits
        share = max(round_bytes * partitions // max(len(self.positions), 1), 1)
        return self._limits._replace(
            max_bytes=min(self._limits.max_bytes, share),
            partition_max_bytes=min(self._limits.partition_max_bytes, share),
        )

    def _answered(self, node: int, body: memoryview) -> None:
        self.held.watch(body)
        session = self._sessions[node]
        session.connection = None
        response = fetch.decode_response(body)
        if response.error in _SESSION_LOST:
            session.reset()
            self._routed = None
            return
        if response.error:
            raise messages.broker_error(response.error, f"{self.cluster.config.alias}: fetch")
        asked = session.sent
        session.id = response.session_id
        session.epoch = session.epoch + 1 if session.id else 0
        if not session.id:
            session.sent = {}  # the broker has no session slot: name all partitions again next time
            self._routed = None
        nothing = True
        for answer in response.partitions:
            key = TopicPartition(answer.topic, answer.partition)
            if answer.error:
                session.ends.pop(key, None)
                self._penalise(key, answer.error)
            else:
                session.ends[key] = self._end(answer)
            nothing = nothing and not answer.error and not answer.records
            self.fetched_bytes += len(answer.records)
            self.round.note(answer.records)
            # The owner may have moved the position meanwhile, for example back to what the target has:
            # this response would leave out the records in between.
            if key in asked and asked[key] == self.positions.get(key):
                self._on_records(answer)
        # A throttled response (KIP-219) is empty even if there are records.
        if nothing and not response.throttle_ms and self._on_nothing is not None:
            ends = session.ends
            stays = [p for p, at in asked.items() if at == self.positions.get(p)]
            self._on_nothing({p: ends[p] for p in stays if p in ends})

    def _end(self, answer: FetchedPartition) -> int:
        if self._isolation_level is IsolationLevel.READ_COMMITTED:
            return answer.last_stable_offset
        return answer.high_watermark

    def _penalise(self, partition: TopicPartition, code: int) -> None:
        self._penalty[partition] = time.monotonic() + _PENALTY_SECONDS
        self._routed = None
        if messages.error_is_retriable(code):
            self._stale = True

    def _lost(self, node: int, error: ClientError) -> None:
        if self._repeats.is_news(node, str(error)):
            log.warning("source %s: broker %d: %s", self.cluster.config.alias, node, error)
        self._sessions.pop(node, None)
        self._routed = None
        self.cluster.disconnect(node)
        self._stale = True


def _differences(
    sent: dict[TopicPartition, int], wanted: dict[TopicPartition, int]
) -> tuple[dict[TopicPartition, int], list[TopicPartition]]:
    """What a request has to tell its session: changed positions, and partitions to forget."""
    if sent is wanted:
        return {}, []
    changed = {p: offset for p, offset in wanted.items() if sent.get(p) != offset}
    return changed, [p for p in sent if p not in wanted]
