"""Answers to message objects that concern partitions (`KafkaApis`, `ReplicaManager`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from heliograph.model import TopicPartition
from simulation.model.cluster import Cluster
from simulation.model.offsets import FoundOffset, find_offset
from simulation.model.partition_log import PartitionLog

_READ_COMMITTED = 1


def _produce(cluster: Cluster, node: int, request: Any) -> Any:
    batches = {
        TopicPartition(topic.name, each.index): bytes(each.records)
        for topic in request.topic_data
        for each in topic.partition_data
    }
    version = request.API_VERSION if request.API_VERSION is not None else request._max_version
    answers = cluster.produce(
        node, batches, transactional_id=request.transactional_id, version=version
    )
    responses = [
        SimpleNamespace(
            name=topic.name,
            partition_responses=[
                SimpleNamespace(
                    index=each.index,
                    error_code=int(answers[TopicPartition(topic.name, each.index)].error),
                    base_offset=answers[TopicPartition(topic.name, each.index)].base,
                    error_message=None,
                )
                for each in topic.partition_data
            ],
        )
        for topic in request.topic_data
    ]
    return SimpleNamespace(responses=responses)


def _fetch(cluster: Cluster, node: int, request: Any) -> Any:
    responses = [
        SimpleNamespace(
            topic=topic.topic,
            partitions=[
                _fetched(
                    cluster,
                    node,
                    TopicPartition(topic.topic, each.partition),
                    each,
                    request.isolation_level == _READ_COMMITTED,
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return SimpleNamespace(error_code=0, session_id=0, responses=responses)


def _fetched(
    cluster: Cluster, node: int, partition: TopicPartition, wanted: Any, committed: bool
) -> Any:
    found = cluster.fetch(
        node,
        partition,
        wanted.fetch_offset,
        committed=committed,
        leader_epoch=wanted.current_leader_epoch,
        max_bytes=wanted.partition_max_bytes,
    )
    log = cluster.log(partition)
    ends = (-1, -1, -1)
    if log is not None and not found.error:
        ends = (log.high_watermark, log.last_stable, log.start)
    aborted = None
    if found.aborted is not None:
        aborted = [
            SimpleNamespace(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in found.aborted
        ]
    return SimpleNamespace(
        partition_index=partition.partition,
        error_code=int(found.error),
        high_watermark=ends[0],
        last_stable_offset=ends[1],
        log_start_offset=ends[2],
        aborted_transactions=aborted,
        records=found.records,
    )


def _list_offsets(cluster: Cluster, node: int, request: Any) -> Any:
    committed = request.isolation_level == _READ_COMMITTED

    def one(log: PartitionLog | None, error: int, wanted: Any) -> Any:
        found = FoundOffset()
        if log is not None and not error:
            found = find_offset(log, wanted.timestamp, committed=committed)
        return SimpleNamespace(
            partition_index=wanted.partition_index, error_code=error, **found._asdict()
        )

    return _each(cluster, node, request, one, ("name", "partition_index"))


def _epoch_ends(cluster: Cluster, node: int, request: Any) -> Any:
    def one(log: PartitionLog | None, error: int, wanted: Any) -> Any:
        epoch, end = -1, -1
        if log is not None and not error:
            epoch, end = log.epochs.end_offset(wanted.leader_epoch, log.end)
        return SimpleNamespace(
            partition=wanted.partition, error_code=error, leader_epoch=epoch, end_offset=end
        )

    return _each(cluster, node, request, one, ("topic", "partition"))


def _delete_records(cluster: Cluster, node: int, request: Any) -> Any:
    def one(log: PartitionLog | None, error: int, wanted: Any) -> Any:
        if log is not None and not error:
            error = int(log.delete_records(wanted.offset))
        low = log.start if log is not None and not error else -1
        return SimpleNamespace(
            partition_index=wanted.partition_index, error_code=error, low_watermark=low
        )

    return _each(cluster, node, request, one, ("name", "partition_index"))


def _describe_producers(cluster: Cluster, node: int, request: Any) -> Any:
    topics = []
    for topic in request.topics:
        partitions = []
        for index in topic.partition_indexes:
            error, log = cluster.led(node, TopicPartition(topic.name, index))
            partitions.append(
                SimpleNamespace(
                    partition_index=index,
                    error_code=int(error),
                    active_producers=[] if log is None else _active(log),
                )
            )
        topics.append(SimpleNamespace(name=topic.name, partitions=partitions))
    return SimpleNamespace(topics=topics)


def _active(log: PartitionLog) -> list[Any]:
    return [
        SimpleNamespace(
            producer_id=producer_id,
            producer_epoch=entry.epoch,
            last_sequence=entry.last_sequence,
            last_timestamp=entry.timestamp,
            coordinator_epoch=entry.coordinator_epoch,
            current_txn_start_offset=(
                -1 if entry.transaction_start is None else entry.transaction_start
            ),
        )
        for producer_id, entry in log.producers.entries.items()
    ]


def _each(
    cluster: Cluster,
    node: int,
    request: Any,
    one: Callable[[PartitionLog | None, int, Any], Any],
    names: tuple[str, str],
) -> Any:
    """An answer for each partition of each topic; `names` are the fields for topic and partition."""
    topics = []
    for topic in request.topics:
        name = getattr(topic, names[0])
        answers = []
        for wanted in topic.partitions:
            error, log = cluster.led(node, TopicPartition(name, getattr(wanted, names[1])))
            if log is not None:
                error = log.check_leader_epoch(getattr(wanted, "current_leader_epoch", -1))
            answers.append(one(log, int(error), wanted))
        topics.append(SimpleNamespace(**{names[0]: name}, partitions=answers))
    return SimpleNamespace(topics=topics)


LOG_REQUESTS: Mapping[str, Callable[[Cluster, int, Any], Any]] = {
    "ProduceRequest": _produce,
    "FetchRequest": _fetch,
    "ListOffsetsRequest": _list_offsets,
    "OffsetForLeaderEpochRequest": _epoch_ends,
    "DeleteRecordsRequest": _delete_records,
    "DescribeProducersRequest": _describe_producers,
}
