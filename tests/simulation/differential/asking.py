"""Each operation as requests, and what is compared of their answers.

A conversation yields requests of one round trip, is sent their answers, and returns the outcome. The same
conversations are held with both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from kafka.protocol.admin import DeleteRecordsRequest, DescribeTransactionsRequest

from heliograph.model import ProducerIdentity
from heliograph.wire import messages
from simulation.differential import operations as op
from simulation.differential.making import fetch_request, produce_request
from simulation.differential.observing import fetched, list_offsets_request, observe
from simulation.differential.side import Side

Outcome = Any
Conversation = Generator[list[Any], list[Any], Outcome]
#: COORDINATOR_LOAD_IN_PROGRESS: a broker that has used up its block of producer ids waits for another.
_LOADING = 14
_MISSING = "missing"
_NOT_SETTLED = ("PrepareCommit", "PrepareAbort")
_OPEN = (*_NOT_SETTLED, "Ongoing")


def converse(operation: op.Operation, side: Side) -> Conversation:
    conversation: Callable[[Any, Side], Conversation] = _CONVERSATIONS[type(operation)]
    return conversation(operation, side)


def _init(operation: op.Init, side: Side) -> Conversation:
    follow = operation.follow
    expected = ProducerIdentity(-1, -1) if follow is None else side.identity(operation.slot, follow)
    transactional_id = side.transactional_id(operation.slot)
    while True:
        (answer,) = yield [
            messages.InitProducerIdRequest(
                transactional_id=transactional_id,
                transaction_timeout_ms=operation.timeout_ms,
                producer_id=expected.producer_id,
                producer_epoch=expected.epoch,
                max_version=5,
            )
        ]
        if answer.error_code != _LOADING:
            break
    if not answer.error_code:
        side.identities[operation.slot] = ProducerIdentity(
            answer.producer_id, answer.producer_epoch
        )
    if transactional_id is not None:
        yield from _settle(transactional_id, _NOT_SETTLED)
    return answer.error_code, side.label(answer.producer_id), answer.producer_epoch


def _bump(operation: op.Bump, side: Side) -> Conversation:
    side.identities[operation.slot] = side.identity(operation.slot, 1)
    return None
    yield


def _produce(operation: op.Produce, side: Side) -> Conversation:
    (answer,) = yield [produce_request(operation, side)]
    return tuple(
        sorted(
            (side.partitions.index((topic.name, each.index)), each.error_code, each.base_offset)
            for topic in answer.responses
            for each in topic.partition_responses
        )
    )


def _add_partitions(operation: op.AddPartitions, side: Side) -> Conversation:
    topic = side.partitions[0].topic
    numbers = [side.partitions[each].partition for each in operation.partitions]
    producer = side.identity(operation.slot, operation.epoch_change)
    entry = messages.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    (answer,) = yield [
        messages.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=side.transactional_id(operation.slot),
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[entry(name=topic, partitions=numbers)]
            + ([entry(name=_MISSING, partitions=[0])] if operation.missing else []),
            max_version=3,
        )
    ]
    return sorted(
        (
            topic.name,
            each.partition_error_code,
        )
        if topic.name == _MISSING
        else (
            str(side.partitions.index((topic.name, each.partition_index))),
            each.partition_error_code,
        )
        for topic in answer.results_by_topic_v3_and_below
        for each in topic.results_by_partition
    )


def _end(operation: op.End, side: Side) -> Conversation:
    transactional_id = side.transactional_id(operation.slot)
    assert transactional_id is not None
    producer = side.identity(operation.slot, operation.epoch_change)
    (answer,) = yield [
        messages.EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=operation.commit,
            max_version=operation.version,
        )
    ]
    yield from _settle(transactional_id, _NOT_SETTLED)
    if operation.version < 5:
        return answer.error_code
    if not answer.error_code:
        side.identities[operation.slot] = ProducerIdentity(
            answer.producer_id, answer.producer_epoch
        )
    return answer.error_code, side.label(answer.producer_id), answer.producer_epoch


def _time_out(operation: op.TimeOut, side: Side) -> Conversation:
    transactional_id = side.transactional_id(operation.slot)
    assert transactional_id is not None
    return (yield from _settle(transactional_id, _OPEN))


def _settle(transactional_id: str, unsettled: tuple[str, ...]) -> Conversation:
    """Until all markers are written. A real broker writes them after it has answered."""
    while True:
        (answer,) = yield [DescribeTransactionsRequest(transactional_ids=[transactional_id])]
        (state,) = answer.transaction_states
        if state.transaction_state not in unsettled:
            return state.error_code, state.transaction_state, state.producer_epoch


def _delete_records(operation: op.DeleteRecords, side: Side) -> Conversation:
    topic, number = side.partitions[operation.partition]
    topic_entry = DeleteRecordsRequest.DeleteRecordsTopic
    entry = topic_entry.DeleteRecordsPartition(partition_index=number, offset=operation.offset)
    (answer,) = yield [
        DeleteRecordsRequest(
            topics=[topic_entry(name=topic, partitions=[entry])], timeout_ms=30_000
        )
    ]
    result = answer.topics[0].partitions[0]
    return result.error_code, result.low_watermark


def _epoch_end(operation: op.EpochEnd, side: Side) -> Conversation:
    topic, number = side.partitions[operation.partition]
    topic_entry = messages.OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    entry = topic_entry.OffsetForLeaderPartition(
        partition=number,
        current_leader_epoch=side.epoch(operation.partition, operation.current),
        leader_epoch=side.epoch(operation.partition, operation.epoch),
    )
    (answer,) = yield [
        messages.OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[topic_entry(topic=topic, partitions=[entry])]
        )
    ]
    found = answer.topics[0].partitions[0]
    return found.error_code, side.rank(operation.partition, found.leader_epoch), found.end_offset


def _list_offsets(operation: op.ListOffsets, side: Side) -> Conversation:
    (answer,) = yield [list_offsets_request(operation, side)]
    found = answer.topics[0].partitions[0]
    age = side.now_ms - found.timestamp if found.timestamp >= 0 else None
    return (
        found.error_code,
        found.offset,
        age if age in (op.NOW, op.OLD, None) else "marker",
        side.rank(operation.partition, found.leader_epoch),
    )


def _fetch(operation: op.Fetch, side: Side) -> Conversation:
    (answer,) = yield [fetch_request(operation, side)]
    return fetched(answer, side, operation.partition)


def _observe(operation: op.Observe, side: Side) -> Conversation:
    return (yield from observe(operation, side))


_CONVERSATIONS: dict[type, Callable[[Any, Side], Conversation]] = {
    op.Init: _init,
    op.Bump: _bump,
    op.Produce: _produce,
    op.AddPartitions: _add_partitions,
    op.End: _end,
    op.TimeOut: _time_out,
    op.DeleteRecords: _delete_records,
    op.EpochEnd: _epoch_end,
    op.ListOffsets: _list_offsets,
    op.Fetch: _fetch,
    op.Observe: _observe,
}
