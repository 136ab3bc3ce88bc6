"""The model of the coordinator, and the requests that our client sends to it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.errors import Fenced
from heliograph.model import ClusterConfig, ProducerIdentity, TopicPartition
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from heliograph.wire import fetch, produce
from simulation.model.cluster import Cluster
from simulation.model.errors import Error
from simulation.model.frames import carry_out
from simulation.model.requests import answer
from simulation.model.transaction_metadata import EXHAUSTED_EPOCH, TransactionState

PARTITION = TopicPartition("t", 0)


class Clock:
    def __init__(self) -> None:
        self.now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cluster(clock: Clock) -> Cluster:
    made = Cluster(clock)
    made.create_topic("t", 2)
    return made


class ModelClient(ClusterClient):
    """What the coordinator's dialogue needs of a client."""

    def __init__(self, cluster: Cluster) -> None:
        config = ClusterConfig(alias="model", bootstrap_servers=("simulated:1",))
        super().__init__(config, client_id="test")
        self._model = cluster

    def call(self, node: int, request: Any) -> Any:
        return answer(self._model, node, request)

    def call_any(self, request: Any) -> Any:
        # It stands in the request once it is encoded.
        request.API_VERSION = request._max_version
        return answer(self._model, 1, request)

    def refresh(self, topics: Any = None) -> Any:
        return None

    def connection(self, node: int) -> Any:
        return cast(Any, self)

    @property
    def features(self) -> dict[str, int]:
        return {"transaction.version": self._model.coordinator.version}


def transaction(cluster: Cluster) -> Transaction:
    coordinator = Coordinator(ModelClient(cluster), "x", timeout_ms=60_000, patience=0.0)
    started = Transaction(coordinator, coordinator.init())
    started.start()
    return started


def write(cluster: Cluster, identity: ProducerIdentity, sequence: int, version: int) -> int:
    """By the frames of our producer; gives the error code."""
    records = [Record(timestamp=5, key=None, value=b"v")]
    batch = encode(
        records,
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
        sequence=sequence,
        transactional=True,
    )
    body = b"".join(
        bytes(piece)
        for piece in produce.encode_request(
            {PARTITION: memoryview(batch)}, timeout_ms=1, transactional_id="x", version=version
        )
    )
    response = carry_out(cluster, 1, produce.API_KEY, version, body)
    (answered,) = produce.decode_response(memoryview(bytearray(response)), version)
    return answered.error


def committed(cluster: Cluster) -> fetch.FetchedPartition:
    body = fetch.encode_request(
        limits=fetch.FetchLimits(), isolation_level=1, session=(0, -1), offsets={PARTITION: 0}
    )
    response = carry_out(cluster, 1, fetch.API_KEY, fetch.VERSION, body)
    (found,) = fetch.decode_response(memoryview(bytearray(response))).partitions
    return found


def test_our_transactions_of_version_2_bump_the_epoch_at_each_end(cluster: Cluster) -> None:
    ours = transaction(cluster)
    for epoch in range(3):
        assert ours.identity.epoch == epoch
        ours.sending([PARTITION])
        assert write(cluster, ours.identity, 0, version=12) == Error.NONE
        ours.commit()
    found = committed(cluster)
    assert (found.high_watermark, found.last_stable_offset, found.aborted) == (6, 6, [])


def test_our_transactions_of_version_1_name_their_partitions_first(clock: Clock) -> None:
    cluster = Cluster(clock, transaction_version=1)
    cluster.create_topic("t")
    ours = transaction(cluster)
    assert write(cluster, ours.identity, 0, version=8) == Error.INVALID_TXN_STATE
    assert ours.join([PARTITION]) == {}
    assert write(cluster, ours.identity, 0, version=8) == Error.NONE
    ours.abort()
    found = committed(cluster)
    assert found.aborted == [(ours.identity.producer_id, 0)]
    assert ours.identity.epoch == 1  # of InitProducerId


def test_a_second_producer_fences_the_first(cluster: Cluster) -> None:
    ours = transaction(cluster)
    ours.sending([PARTITION])
    write(cluster, ours.identity, 0, version=12)
    assert cluster.coordinator.init_producer_id("x")[0] is Error.CONCURRENT_TRANSACTIONS
    cluster.write_markers()
    assert cluster.coordinator.init_producer_id("x")[0] is Error.NONE
    assert write(cluster, ours.identity, 1, version=12) == Error.INVALID_PRODUCER_EPOCH
    with pytest.raises(Fenced):
        ours.commit()


def test_until_the_markers_are_written_requests_are_answered_with_concurrent_transactions(
    clock: Clock,
) -> None:
    cluster = Cluster(clock, markers_at_once=False)
    cluster.create_topic("t")
    ours = transaction(cluster)
    ours.sending([PARTITION])
    write(cluster, ours.identity, 0, version=12)
    ours.commit()
    assert write(cluster, ours.identity, 0, version=12) == Error.CONCURRENT_TRANSACTIONS
    coordinator = cluster.coordinator
    assert coordinator.init_producer_id("x")[0] is Error.CONCURRENT_TRANSACTIONS
    assert coordinator.add_partitions("x", ours.identity, [PARTITION]) is (
        Error.CONCURRENT_TRANSACTIONS
    )
    before = ProducerIdentity(ours.identity.producer_id, ours.identity.epoch - 1)
    assert coordinator.end("x", before, commit=True, version=2)[0] is Error.CONCURRENT_TRANSACTIONS
    assert committed(cluster).last_stable_offset == 0
    assert cluster.write_markers() == 1
    assert committed(cluster).last_stable_offset == 2


def test_a_commit_that_is_asked_again_is_done_and_an_empty_one_is_refused(cluster: Cluster) -> None:
    coordinator = cluster.coordinator
    _, first = coordinator.init_producer_id("x")
    refused = coordinator.end("x", first, commit=True, version=2)
    assert refused[0] is Error.INVALID_TXN_STATE
    coordinator.add_partitions("x", first, [PARTITION])
    done = coordinator.end("x", first, commit=True, version=2)
    cluster.write_markers()
    assert coordinator.end("x", first, commit=True, version=2) == done
    assert coordinator.end("x", first, commit=False, version=2)[0] is Error.INVALID_TXN_STATE
    assert coordinator.end("x", done[1], commit=True, version=2)[0] is Error.INVALID_TXN_STATE


def test_a_transaction_that_takes_too_long_is_aborted(cluster: Cluster, clock: Clock) -> None:
    _, identity = cluster.coordinator.init_producer_id("x", timeout_ms=100)
    clock.now_ms = 50
    write(cluster, identity, 0, version=12)
    clock.now_ms = 150
    assert cluster.abort_timed_out() == []
    clock.now_ms = 151
    assert cluster.abort_timed_out() == ["x"]
    assert cluster.coordinator.transactions["x"].state is TransactionState.COMPLETE_ABORT
    assert write(cluster, identity, 1, version=12) == Error.INVALID_PRODUCER_EPOCH


def test_a_producer_id_whose_epochs_are_used_up_is_replaced(cluster: Cluster) -> None:
    coordinator = cluster.coordinator
    _, first = coordinator.init_producer_id("x")
    coordinator.transactions["x"].epoch = EXHAUSTED_EPOCH
    error, second = coordinator.init_producer_id("x")
    assert error is Error.NONE
    assert second.producer_id != first.producer_id
    assert second.epoch == 0


def test_the_end_of_a_transaction_replaces_it_too_and_may_be_asked_again(clock: Clock) -> None:
    cluster = Cluster(clock, markers_at_once=False)
    cluster.create_topic("t")
    coordinator = cluster.coordinator
    _, first = coordinator.init_producer_id("x")
    coordinator.transactions["x"].epoch = EXHAUSTED_EPOCH
    last = ProducerIdentity(first.producer_id, EXHAUSTED_EPOCH)
    assert write(cluster, last, 0, version=12) == Error.NONE
    done = coordinator.end("x", last, commit=True, version=2)
    assert done == (Error.NONE, ProducerIdentity(first.producer_id + 1, 0))
    cluster.write_markers()
    assert coordinator.transactions["x"].identity == done[1]
    assert coordinator.end("x", last, commit=True, version=2) == done


def test_a_missing_partition_is_not_added_nor_are_those_beside_it(cluster: Cluster) -> None:
    coordinator = Coordinator(ModelClient(cluster), "x", timeout_ms=60_000, patience=0.0)
    identity = coordinator.init()
    missing = TopicPartition("t", 9)
    assert list(coordinator.add(identity, [PARTITION, missing])) == [missing]
    assert cluster.coordinator.transactions["x"].partitions == {PARTITION}
