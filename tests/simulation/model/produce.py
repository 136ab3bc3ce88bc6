"""A Produce request on a broker (`ReplicaManager.handleProduceAppend`, `AddPartitionsToTxnManager`).

The first batch of a transaction on a partition takes a detour: the broker asks the coordinator whether the
partition is part of the transaction (Produce up to version 11), or adds it (from version 12 on).
"""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.records.batch import TRANSACTIONAL, Header, read_header
from simulation.model.errors import Error
from simulation.model.partition_log import Appended, PartitionLog
from simulation.model.transaction_coordinator import TransactionCoordinator

#: Produce versions: the first with TRANSACTION_ABORTABLE, the first that adds partitions to transactions.
_ABORTABLE_VERSION, _ADDING_VERSION = 11, 12


def produce(
    logs: Mapping[TopicPartition, PartitionLog],
    coordinator: TransactionCoordinator,
    batches: Mapping[TopicPartition, bytes],
    transactional_id: str | None,
    version: int,
) -> dict[TopicPartition, Appended]:
    """`logs` are those that the broker leads."""
    headers = {partition: read_header(memoryview(data)) for partition, data in batches.items()}
    transactional = {
        partition: header
        for partition, header in headers.items()
        if partition in logs and header.attributes & TRANSACTIONAL
    }
    if transactional and transactional_id is None:
        refused = Appended(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return dict.fromkeys(batches, refused)
    errors: dict[TopicPartition, Error] = {}
    if transactional and transactional_id is not None:
        errors = _ask(logs, coordinator, transactional, transactional_id, version)
    answers = {}
    for partition, data in batches.items():
        if partition not in logs:
            answers[partition] = Appended(Error.NOT_LEADER_OR_FOLLOWER)
        elif error := errors.get(partition, Error.NONE):
            answers[partition] = Appended(error)
        else:
            answers[partition] = logs[partition].append(data, verified=partition in errors)
    return answers


def _ask(
    logs: Mapping[TopicPartition, PartitionLog],
    coordinator: TransactionCoordinator,
    headers: Mapping[TopicPartition, Header],
    transactional_id: str,
    version: int,
) -> dict[TopicPartition, Error]:
    """Of those partitions on which the transaction has not begun yet."""
    answers: dict[TopicPartition, Error] = {}
    new = {}
    for partition, header in headers.items():
        producers = logs[partition].producers
        if header.producer_epoch < producers.entry(header.producer_id).epoch:
            answers[partition] = Error.INVALID_PRODUCER_EPOCH
        elif not producers.in_transaction(header.producer_id, header.producer_epoch):
            new[partition] = header
            adds = version >= _ADDING_VERSION
            producers.verify(
                header.producer_id, header.base_sequence, header.producer_epoch, epoch_bumps=adds
            )
    return answers | _ask_coordinator(coordinator, new, transactional_id, version)


def _ask_coordinator(
    coordinator: TransactionCoordinator,
    headers: Mapping[TopicPartition, Header],
    transactional_id: str,
    version: int,
) -> dict[TopicPartition, Error]:
    if not headers:
        return {}
    header = next(iter(headers.values()))
    producer = ProducerIdentity(header.producer_id, header.producer_epoch)
    if version >= _ADDING_VERSION:
        error = coordinator.add_partitions(transactional_id, producer, headers)
        return dict.fromkeys(headers, _produce_error(error, version))
    return {
        partition: _produce_error(
            coordinator.verify_partition(transactional_id, producer, partition), version
        )
        for partition in headers
    }


def _produce_error(error: Error, version: int) -> Error:
    """Produce has other codes for some errors of the coordinator."""
    if error is Error.PRODUCER_FENCED:
        return Error.INVALID_PRODUCER_EPOCH
    if error is Error.TRANSACTION_ABORTABLE and version < _ABORTABLE_VERSION:
        return Error.INVALID_TXN_STATE
    if error is Error.CONCURRENT_TRANSACTIONS and version < _ADDING_VERSION:
        return Error.NOT_ENOUGH_REPLICAS
    return error
