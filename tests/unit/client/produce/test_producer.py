from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.errors import ClientError, MalformedResponse
from heliograph.model import ClusterConfig, ProducerIdentity, TopicPartition
from heliograph.wire import produce
from support.waiting import eventually

DATA, OFFSETS = TopicPartition("a.orders", 0), TopicPartition("mm2-offsets.a.internal", 7)


def batch(size: int) -> ProducerBatch:
    return ProducerBatch(memoryview(bytes(size)), 1, 0, 1)


def test_abandoning_data_leaves_offsets_that_were_queued_with_it() -> None:
    """Or an epoch that ends right after a flush would believe offsets stored that never were."""
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(leaders={DATA: 1, OFFSETS: 1})
    producer = Producer(
        cluster,
        ["a.orders", "mm2-offsets.a.internal"],
        on_ack=lambda partition, batch, offset: None,
        on_refused=lambda partition, error: None,
        on_retry=lambda partition, error: None,
    )
    producer.append(DATA, batch(100))
    producer.append(OFFSETS, batch(30))

    producer.abandon({DATA})

    assert producer.buffered_bytes == batch(30).weight
    assert not producer.idle


class Line:
    """Takes the place of a connection to a broker that answers every request with the same bytes."""

    versions = {produce.API_KEY: (0, produce.VERSION)}  # noqa: RUF012 - read only
    is_trusted = True

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self._waiting: list[Callable[[memoryview], None]] = []

    def send(
        self, key: int, version: int, body: Any, answered: Callable[[memoryview], None]
    ) -> None:
        self._waiting.append(answered)

    def pump(self) -> None:
        self._waiting.pop()(memoryview(self.answer))

    def close(self) -> None:
        pass


def produced(*partitions: int) -> bytes:
    name = DATA.topic.encode()
    answer = struct.pack(">ih", 1, len(name)) + name + struct.pack(">i", len(partitions))
    return answer + b"".join(
        struct.pack(">ihqqqih", partition, 0, 5, -1, 0, 0, -1) for partition in partitions
    )


@pytest.mark.parametrize("answer", [b"", b"\xff" * 9, produced(1), produced(0, 0)], ids=repr)
def test_what_a_malformed_answer_leaves_open_is_sent_again(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ProducerIdentity(7, 0)
    monkeypatch.setattr(
        "heliograph.client.produce.producer.init_producer_id", lambda cluster: identity
    )
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(nodes={1: ("b", 1)}, leaders={DATA: 1})
    monkeypatch.setattr(cluster, "connection", lambda node: Line(answer))
    retried: list[ClientError] = []
    producer = Producer(
        cluster,
        ["a.orders"],
        on_ack=lambda partition, batch, offset: pytest.fail("believed"),
        on_refused=lambda partition, error: pytest.fail("given up"),
        on_retry=lambda partition, error: retried.append(error),
    )
    producer.append(DATA, ProducerBatch(memoryview(bytearray(100)), 1, 0, 1))

    producer.send()
    producer.pump()

    assert [type(error) for error in retried] == [MalformedResponse]
    assert producer.buffered_bytes == batch(100).weight
    assert not producer.connections()


def test_a_partition_without_a_leader_gives_back_what_was_not_sent() -> None:
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(errors={"a.orders": 29})
    told: list[str] = []
    producer = Producer(
        cluster,
        ["a.orders"],
        on_ack=lambda partition, batch, offset: None,
        on_refused=lambda partition, error: None,
        on_retry=lambda partition, error: told.append(str(error)),
    )
    batches = [batch(100), batch(50)]
    for each in batches:
        producer.append(DATA, each)
    assert producer.stuck_bytes == producer.buffered_bytes

    dropped, retry_at = producer.release(DATA)

    assert dropped == batches
    assert retry_at is not None
    assert producer.idle
    assert producer.release(OFFSETS) == ([], None)
    assert "TOPIC_AUTHORIZATION_FAILED" in told[0].upper()


class Script(Line):
    """A broker with an answer of its own to each request, in order."""

    def __init__(self, *answers: bytes) -> None:
        super().__init__(b"")
        self._answers = list(answers)

    def pump(self) -> None:
        while self._waiting:
            self._waiting.pop(0)(memoryview(self._answers.pop(0)))


def landed(offset: int, error: int = 0) -> bytes:
    name = DATA.topic.encode()
    answer = struct.pack(">ih", 1, len(name)) + name + struct.pack(">i", 1)
    return answer + struct.pack(">ihqqqih", 0, error, offset, -1, 0, 0, -1)


def test_what_was_appended_behind_a_batch_in_fallback_is_told_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the mirror would take the unacknowledged batch for records of another writer."""
    identity = ProducerIdentity(7, 0)
    monkeypatch.setattr(
        "heliograph.client.produce.producer.init_producer_id", lambda cluster: identity
    )
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(nodes={1: ("b", 1)}, leaders={DATA: 1})
    monkeypatch.setattr(cluster, "refresh", lambda topics: cluster.metadata)
    not_enough_replicas_after_append = landed(-1, error=20)
    answers = [landed(5), not_enough_replicas_after_append, landed(7), landed(6), landed(7)]
    line = Script(*answers)
    monkeypatch.setattr(cluster, "connection", lambda node: line)
    told: list[int] = []
    producer = Producer(
        cluster,
        ["a.orders"],
        on_ack=lambda partition, batch, offset: told.append(offset),
        on_refused=lambda partition, error: pytest.fail("given up"),
        on_retry=lambda partition, error: None,
    )

    def work() -> bool:
        producer.send()
        producer.pump()
        return producer.idle

    producer.append(DATA, ProducerBatch(memoryview(bytearray(100)), 1, 0, 1))
    work()
    producer.append(DATA, ProducerBatch(memoryview(bytearray(100)), 1, 1, 2))
    producer.append(DATA, ProducerBatch(memoryview(bytearray(100)), 1, 2, 3))
    work()
    assert told == [5]

    eventually(work, lambda idle: idle)

    assert told == [5, 6, 7]


def test_a_line_at_rest_is_left_for_the_one_that_its_cluster_trusts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "heliograph.client.produce.producer.init_producer_id",
        lambda cluster: ProducerIdentity(7, 0),
    )
    cluster = ClusterClient(ClusterConfig(alias="b", bootstrap_servers=()), client_id="test")
    cluster.metadata = Metadata(nodes={1: ("b", 1)}, leaders={DATA: 1})
    told: list[int] = []
    producer = Producer(
        cluster,
        ["a.orders"],
        on_ack=lambda partition, batch, offset: told.append(offset),
        on_refused=lambda partition, error: pytest.fail("given up"),
        on_retry=lambda partition, error: None,
    )
    for offset in (5, 6):
        cluster._connections[1] = Line(landed(offset))  # type: ignore[assignment]
        producer.append(DATA, ProducerBatch(memoryview(bytearray(100)), 1, offset, offset + 1))
        producer.send()
        producer.pump()

    assert told == [5, 6]
