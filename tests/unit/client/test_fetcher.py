"""What a fetch names: sessions (KIP-227) are told of changes only, and of all of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

from kafka.protocol.consumer import FetchRequest

from heliograph.client.cluster import ClusterClient, Metadata
from heliograph.client.fetcher import Fetcher
from heliograph.model import ClusterConfig, IsolationLevel, TopicPartition
from heliograph.wire import fetch
from heliograph.wire.fetch import FetchLimits

A, B, C = (TopicPartition("orders", number) for number in range(3))
OK, NO_SESSION, NO_LEADER = 0, fetch.FETCH_SESSION_ID_NOT_FOUND, 5


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


def fetcher_on(line: Line, *, leaders: dict[TopicPartition, int] | None = None) -> Fetcher:
    cluster = ClusterClient(ClusterConfig(alias="a", bootstrap_servers=()), client_id="test")
    metadata = Metadata(nodes={1: ("localhost", 1)}, leaders=leaders or dict.fromkeys((A, B, C), 1))
    cast(Any, cluster).refresh = lambda topics: setattr(cluster, "metadata", metadata)
    cast(Any, cluster).connection = lambda node: line
    return Fetcher(
        cluster,
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        limits=FetchLimits(),
        on_records=lambda answer: None,
        on_nothing=None,
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
    monkeypatch.setattr("heliograph.client.fetcher.time.monotonic", lambda: clock[0])
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
