"""Brokers that restart forget a producer whose newest records are older than producer.id.expiration.ms."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.errors import ClientError, ConnectionLost
from heliograph.model import ClusterConfig, ProducerIdentity, TopicPartition
from heliograph.wire import produce

DATA = TopicPartition("a.orders", 0)
NEW, OLD = int(time.time() * 1000), int((time.time() - 2 * 86_400) * 1000)
NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND = 19, 20


class Broker:
    """Answers the requests of one connection in order, with error codes; then the connection is lost."""

    versions = {produce.API_KEY: (0, produce.VERSION)}  # noqa: RUF012 - read only
    is_trusted = True

    def __init__(self, *errors: int) -> None:
        self.in_flight: list[Callable[[memoryview], None]] = []
        self._errors = list(errors)

    def send(
        self, key: int, version: int, body: Any, answered: Callable[[memoryview], None]
    ) -> None:
        self.in_flight.append(answered)

    def pump(self) -> None:
        while self.in_flight:
            if not self._errors:
                raise ConnectionLost("lost")
            name, error = DATA.topic.encode(), self._errors.pop(0)
            answer = struct.pack(">ih", 1, len(name)) + name + struct.pack(">i", 1)
            answer += struct.pack(">ihqqqih", 0, error, -1, -1, 0, 0, -1)
            self.in_flight.pop(0)(memoryview(answer))

    def close(self) -> None:
        pass


class Rig:
    """A producer with an identity of its own for its one partition."""

    def __init__(self, patch: pytest.MonkeyPatch, broker: Broker) -> None:
        self.broker = broker
        self.cluster = ClusterClient(
            ClusterConfig(alias="b", bootstrap_servers=()), client_id="test"
        )
        self.cluster.metadata = Metadata(nodes={1: ("b", 1)}, leaders={DATA: 1})
        patch.setattr(self.cluster, "refresh", lambda topics: self.cluster.metadata)
        patch.setattr(self.cluster, "connection", lambda node: self.broker)
        patch.setattr(
            "heliograph.client.produce.producer.init_producer_id",
            lambda cluster: ProducerIdentity(7, 0),
        )
        self.doubted: list[ClientError] = []
        self.retried: list[ClientError] = []
        self.producer = Producer(
            self.cluster,
            ["a.orders"],
            on_ack=lambda partition, batch, offset: None,
            on_refused=lambda partition, error: pytest.fail(f"refused: {error}"),
            on_retry=lambda partition, error: self.retried.append(error),
            on_doubt=lambda partition, error: self.doubted.append(error),
        )

    def adopt(self) -> None:
        self.producer.adopt(DATA, ProducerIdentity(9, 3), 0)

    def append(self, *written: int) -> None:
        for offset, newest_ms in enumerate(written):
            batch = ProducerBatch(memoryview(bytearray(100)), 1, offset, offset + 1)
            batch.newest_ms = newest_ms
            self.producer.append(DATA, batch)

    def work(self, times: int = 1) -> None:
        for _ in range(times):
            self.producer.send()
            self.producer.pump()


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(monkeypatch, Broker())


def test_old_records_whose_response_is_lost_are_not_sent_again_by_themselves(rig: Rig) -> None:
    """The broker may have appended them, and would not recognise them (simulation: target-restarts 9)."""
    rig.adopt()
    rig.append(OLD)
    rig.work()

    assert [str(error) for error in rig.doubted] == ["lost"]
    assert rig.producer.idle


def test_new_records_whose_response_is_lost_are_sent_again(rig: Rig) -> None:
    rig.adopt()
    rig.append(NEW)
    rig.work()

    assert rig.doubted == []
    assert len(rig.retried) == 1
    assert not rig.producer.idle


def test_new_records_are_in_doubt_if_old_ones_were_appended_behind_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broker goes by its newest batch (simulation: target-restarts 106)."""
    rig = Rig(monkeypatch, Broker(0, NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0))
    rig.adopt()
    rig.append(NEW)
    rig.work()
    rig.append(NEW, OLD)
    rig.work()

    assert len(rig.doubted) == 1
    assert rig.producer.idle


def test_records_that_the_broker_did_not_append_are_in_no_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch, Broker(NOT_ENOUGH_REPLICAS))
    rig.adopt()
    rig.append(OLD)
    rig.work()

    assert rig.doubted == []
    assert not rig.producer.idle


def test_records_without_an_owner_who_could_look_at_the_log_are_sent_again(rig: Rig) -> None:
    rig.append(OLD)
    rig.work()

    assert rig.doubted == []
    assert not rig.producer.idle


def test_the_first_batch_on_a_new_connection_goes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that has forgotten the producer would take the second one although it refuses the first
    (simulation: target-restarts 48)."""
    rig = Rig(monkeypatch, Broker(0))
    rig.adopt()
    rig.append(NEW)
    rig.work()
    rig.append(NEW, NEW)
    rig.producer.send()
    assert len(rig.broker.in_flight) == 2

    rig = Rig(monkeypatch, Broker(0))
    rig.adopt()
    rig.append(NEW)
    rig.work()
    rig.broker = Broker()
    rig.append(NEW, NEW)
    rig.producer.send()
    assert len(rig.broker.in_flight) == 1
