"""The source side of a flow: one fetch under way to every broker that leads partitions of ours.

Fetch sessions (KIP-227) keep requests and responses small however many partitions are idle: a request
names only partitions whose position changed since the last one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heliograph.client.fetch.fetch_memory import FetchMemory
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.net.connection import Connection
from heliograph.client.net.log_throttle import LogThrottle
from heliograph.errors import ClientError
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.wire import fetch, messages
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchedPartition, FetchLimits

log = logging.getLogger(__name__)

#: A partition that answered with an error is left alone for this long, so that errors are no busy loop.
_PENALTY_SECONDS = 0.2
#: Of an answer, beside records: about 100 bytes for each partition.
_ANSWER_OVERHEAD = 1 << 20
_SESSION_LOST = frozenset(
    {ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH}
)


@dataclass(slots=True)
class _Session:
    id: int = 0
    epoch: int = 0
    sent: dict[TopicPartition, int] = field(default_factory=dict)
    #: Up to where the broker lets us read, as it last said: in its first answer of a partition, and
    #: whenever that changes (KIP-227).
    ends: dict[TopicPartition, int] = field(default_factory=dict)
    connection: Connection | None = None  # over which a fetch is under way

    def reset(self) -> None:
        self.id = self.epoch = 0
        self.sent = {}
        self.ends = {}


class Fetcher:
    """Fetches what `positions` names. Its owner moves the positions; the fetcher never does.

    `on_records` gets a partition's answer (records or an error code; that there is no leader is one, too),
    `on_nothing`, if anybody wants to know, the partitions of a fetch that found no record anywhere within the
    time it may wait, each with the end that its leader lets us read to: a new leader's lags behind at first,
    and then an empty answer does not mean that there is nothing. Both hear only of partitions that still
    stand where the fetch was sent. Before anything is fetched from a new leader, `on_leaders` hears of its
    epoch, and before anything is fetched by new metadata, `on_metadata` that they are there: a log may not be
    the one that was read so far, a topic another of the same name, and the owner may take the position away.

    With a `round_bytes`, all brokers together are asked for no more than that at a time, each for as much
    as it leads of the partitions. `held` is what answers take in memory.
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
        self._round_bytes = round_bytes
        self._on_records = on_records
        self._on_nothing = on_nothing
        self._on_leaders = on_leaders
        self._on_metadata = on_metadata
        self._leader_epochs: dict[TopicPartition, int] = {}
        self._compared: Metadata | None = None  # whose epochs are known
        self._sessions: dict[int, _Session] = {}
        self._penalty: dict[TopicPartition, float] = {}
        #: By which leaders, and with which positions, all sessions were told; None if they were not.
        self._routed: tuple[Metadata, dict[TopicPartition, int]] | None = None
        self._stale = True
        self._refreshed = 0.0
        self._repeats = LogThrottle()

    def connections(self) -> list[Connection]:
        return [s.connection for s in self._sessions.values() if s.connection is not None]

    def send(self) -> None:
        """Start a fetch on every broker that has none under way and something to fetch."""
        if self._sessions and all(s.connection is not None for s in self._sessions.values()):
            return  # the common case under load; a broker that is new to us is met after an answer
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
                del self._sessions[node]  # it leads nothing of ours any more
        if complete and not self._stale and not self._penalty:
            self._routed = (self.cluster.metadata, dict(self.positions))

    def _is_settled(self) -> bool:
        """Whether nothing has changed since all sessions were told: of thousands of idle partitions, none
        need be looked at one by one."""
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
        """Leave connections in order: answers under way are dropped, sessions die on the broker."""
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
        """Learn the leaders again when one has moved or is unknown; not more than a few times a second."""
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
        """By new metadata; and of partitions that have joined since: without an epoch, a leader that has
        truncated its log would answer them as if nothing had happened."""
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
        if self._round_bytes is None:
            return self._limits
        share = max(self._round_bytes * partitions // max(len(self.positions), 1), 1)
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
            session.sent = {}  # the broker has no room for a session: name everything again next time
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
            # An answer to a position that its owner has left meanwhile (it went back to what the
            # target has, say) would leave out the records in between.
            if key in asked and asked[key] == self.positions.get(key):
                self._on_records(answer)
        # A throttled answer (KIP-219) is empty whatever there is to read.
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
    """What a session is to be told: positions that are new, and partitions to forget."""
    if sent is wanted:
        return {}, []
    changed = {p: offset for p, offset in wanted.items() if sent.get(p) != offset}
    return changed, [p for p in sent if p not in wanted]
