"""A fetch request names only changes to its session (KIP-227), and all of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from kafka.protocol.consumer import FetchRequest

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.model import ClusterConfig, IsolationLevel, TopicPartition
from heliograph.wire import fetch
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchLimits

A, B, C = (TopicPartition("orders", number) for number in range(3))
OK = 0
NO_SESSION, NO_LEADER = ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.LEADER_NOT_AVAILABLE


class Line:
    """Takes the place of a connection: keeps what is asked until the test answers it."""

    def __init__(self) -> None:
        self.versions = {fetch.API_KEY: (4, 17)}
        self.asked: list[tuple[memoryview, Callable[[memoryview], None]]] = []

    def send(
        self,
        api_key: int,
        version: int,
        body: Sequence[bytes],
        on_answer: Callable[[memoryview], None],
        **_: float,
    ) -> None:
        self.asked.append((memoryview(b"".join(body)), on_answer))

    def named(self) -> dict[TopicPartition, int]:
        """The partitions and positions of the request that waits for its answer."""
        request = FetchRequest.decode(self.asked[-1][0], version=fetch.VERSION)
        return {
            TopicPartition(topic.topic, p.partition): p.fetch_offset
            for topic in request.topics
            for p in topic.partitions
        }

    def epochs(self) -> dict[TopicPartition, int]:
        """The leader epochs that the request is meant for; -1: any."""
        request = FetchRequest.decode(self.asked[-1][0], version=fetch.VERSION)
        return {
            TopicPartition(topic.topic, p.partition): p.current_leader_epoch
            for topic in request.topics
            for p in topic.partitions
        }

    def forgotten(self) -> list[TopicPartition]:
        request = FetchRequest.decode(self.asked[-1][0], version=fetch.VERSION)
        return [
            TopicPartition(t.topic, p) for t in request.forgotten_topics_data for p in t.partitions
        ]

    def answer(self, error: int = OK, *refused: TopicPartition, session: int = 7) -> None:
        partitions = b"".join(
            struct.pack(">ihqqqiii", p.partition, NO_LEADER, -1, -1, -1, -1, -1, 0) for p in refused
        )
        topics = struct.pack(">ih6si", 1, 6, b"orders", len(refused)) if refused else bytes(4)
        body = struct.pack(">ihi", 0, error, session) + topics + partitions
        self.asked.pop()[1](memoryview(body))

    def answer_empty(self, ends: Mapping[TopicPartition, int]) -> None:
        """Of these partitions, no record, and how far they may be read."""
        partitions = b"".join(
            struct.pack(">ihqqqiii", p.partition, OK, end, end, 0, -1, -1, 0)
            for p, end in ends.items()
        )
        topics = struct.pack(">ih6si", 1, 6, b"orders", len(ends)) if ends else bytes(4)
        self.asked.pop()[1](memoryview(struct.pack(">ihi", 0, OK, 7) + topics + partitions))


def fetcher_on(
    line: Line,
    *,
    leaders: dict[TopicPartition, int] | None = None,
    epochs: dict[TopicPartition, int] | None = None,
    on_nothing: Callable[[Mapping[TopicPartition, int]], None] | None = None,
    on_metadata: Callable[[], None] = lambda: None,
) -> Fetcher:
    cluster = ClusterClient(ClusterConfig(alias="a", bootstrap_servers=()), client_id="test")
    metadata = Metadata(
        nodes={1: ("localhost", 1)},
        leaders=leaders or dict.fromkeys((A, B, C), 1),
        leader_epochs=epochs or {},
    )
    cast(Any, cluster).refresh = lambda topics: setattr(cluster, "metadata", metadata)
    cast(Any, cluster).connection = lambda node: line
    return Fetcher(
        cluster,
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        limits=FetchLimits(),
        on_records=lambda answer: None,
        on_nothing=on_nothing,
        on_metadata=on_metadata,
    )


def test_partitions_that_stand_still_are_named_once() -> None:
    line = Line()
    fetcher = fetcher_on(line)
    fetcher.positions = {A: 5, B: 6, C: 7}

    fetcher.send()
    assert line.named() == {A: 5, B: 6, C: 7}
    for _ in range(3):
        line.answer()
        fetcher.send()
        assert line.named() == {}
        assert line.forgotten() == []


def test_a_partition_that_moves_after_a_rest_is_named_again() -> None:
    line = Line()
    fetcher = fetcher_on(line)
    fetcher.positions = {A: 5, B: 6, C: 7}
    for _ in range(3):
        fetcher.send()
        line.answer()

    fetcher.positions[B] = 9
    fetcher.send()
    assert line.named() == {B: 9}

    fetcher.positions[B] = 6  # while the fetch is under way
    del fetcher.positions[C]
    line.answer()
    fetcher.send()
    assert line.named() == {B: 6}
    assert line.forgotten() == [C]


def test_a_session_that_the_broker_forgot_is_told_everything_again() -> None:
    line = Line()
    fetcher = fetcher_on(line)
    fetcher.positions = {A: 5, B: 6}
    for _ in range(2):
        fetcher.send()
        line.answer()
    fetcher.send()

    line.answer(NO_SESSION)
    fetcher.send()

    assert line.named() == {A: 5, B: 6}


def test_a_broker_without_room_for_a_session_is_told_everything_every_time() -> None:
    line = Line()
    fetcher = fetcher_on(line)
    fetcher.positions = {A: 5, B: 6}

    for _ in range(3):
        fetcher.send()
        assert line.named() == {A: 5, B: 6}
        line.answer(session=0)


def test_a_partition_in_trouble_is_left_out_for_a_moment(monkeypatch: Any) -> None:
    clock = [100.0]
    monkeypatch.setattr("heliograph.client.fetch.fetcher.time.monotonic", lambda: clock[0])
    line = Line()
    fetcher = fetcher_on(line)
    fetcher.positions = {A: 5, B: 6}
    for _ in range(2):
        fetcher.send()
        line.answer()
    fetcher.send()

    line.answer(OK, B)
    fetcher.send()
    assert line.forgotten() == [B]
    line.answer()
    clock[0] += 1.0
    fetcher.send()
    assert line.named() == {B: 6}


def test_whoever_reads_new_metadata_may_take_a_position_away_before_it_is_fetched() -> None:
    """A topic that was deleted and created again is another, whose offsets mean something else."""
    line = Line()
    fetcher = fetcher_on(line, on_metadata=lambda: fetcher.positions.pop(B, None))
    fetcher.positions = {A: 5, B: 6}

    fetcher.send()

    assert line.named() == {A: 5}


def test_a_partition_that_joins_after_the_metadata_is_fetched_under_its_leaders_epoch() -> None:
    """With none, a leader that has truncated its log since would answer as if nothing had happened."""
    line = Line()
    fetcher = fetcher_on(line, epochs={A: 3, B: 4})
    fetcher.positions = {A: 5}
    fetcher.send()
    line.answer()

    fetcher.positions[B] = 6
    fetcher.send()
    assert line.epochs() == {B: 4}


def test_an_empty_answer_is_told_with_the_ends_that_its_leader_knows_of() -> None:
    """A newly elected leader does not let consumers read up to the old one's end for a while."""
    line, told = Line(), list[Mapping[TopicPartition, int]]()
    fetcher = fetcher_on(line, on_nothing=told.append)
    fetcher.positions = {A: 5, B: 6}
    fetcher.send()
    line.answer_empty({A: 5, B: 9})
    fetcher.send()
    line.answer_empty({})  # of which a session says nothing has not changed
    fetcher.send()
    line.answer_empty({A: 8})

    assert told == [{A: 5, B: 9}, {A: 5, B: 9}, {A: 8, B: 9}]


def test_the_end_of_a_partition_that_comes_back_into_a_session_is_not_known_until_it_is_told() -> (
    None
):
    line, told = Line(), list[Mapping[TopicPartition, int]]()
    fetcher = fetcher_on(line, on_nothing=told.append)
    fetcher.positions = {A: 5, B: 6}
    fetcher.send()
    line.answer_empty({A: 5, B: 9})
    del fetcher.positions[B]
    fetcher.send()
    line.answer_empty({})
    fetcher.positions[B] = 6
    fetcher.send()
    line.answer_empty({})

    assert told[-1] == {A: 5}
