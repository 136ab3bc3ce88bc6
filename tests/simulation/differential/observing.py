"""All that clients can see of a partition, in words that both sides share."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from kafka.protocol.admin import DescribeProducersRequest

from heliograph.records.batch import HEADER_BYTES, split
from heliograph.wire import messages
from simulation.differential import operations as op
from simulation.differential.making import fetch_request
from simulation.differential.side import Side
from simulation.model.stored_batch import StoredBatch

_ALL_BYTES = 1 << 20


def observe(operation: op.Observe, side: Side) -> Generator[list[Any], list[Any], Any]:
    at = operation.partition
    uncommitted, committed, producers = yield [
        fetch_request(op.Fetch(at, operation.start, False, _ALL_BYTES), side),
        fetch_request(op.Fetch(at, operation.start, True, _ALL_BYTES), side),
        _describe_producers_request(side, at),
    ]
    return {
        "read_uncommitted": fetched(uncommitted, side, at),
        "read_committed": fetched(committed, side, at),
        "visible": _visible(committed, operation.start),
        "producers": _producers(producers, side),
    }


def fetched(answer: Any, side: Side, partition: int) -> dict[str, Any]:
    found = answer.responses[0].partitions[0]
    aborted = found.aborted_transactions
    return {
        "error": found.error_code,
        "high watermark": found.high_watermark,
        "last stable offset": found.last_stable_offset,
        "log start": found.log_start_offset,
        "bytes": len(found.records or b""),
        "batches": [_batch(each, side, partition) for each in _batches(found)],
        "aborted": aborted
        and sorted((each.first_offset, side.label(each.producer_id)) for each in aborted),
    }


def _batches(found: Any) -> list[StoredBatch]:
    """The whole ones."""
    return [StoredBatch(bytes(each)) for each in split(memoryview(found.records or b""))]


def _batch(batch: StoredBatch, side: Side, partition: int) -> tuple[Any, ...]:
    header = batch.header
    return (
        batch.base,
        batch.last,
        side.label(header.producer_id),
        header.producer_epoch,
        header.base_sequence,
        header.attributes,
        side.rank(partition, header.leader_epoch),
        "abort" if batch.aborts else "commit" if batch.control else batch.data[HEADER_BYTES:],
    )


def _visible(answer: Any, start: int) -> list[int]:
    """Offsets that a consumer under read_committed returns (`CompletedFetch`)."""
    found = answer.responses[0].partitions[0]
    waiting = sorted(
        (each.first_offset, each.producer_id) for each in found.aborted_transactions or ()
    )
    aborting: set[int] = set()
    offsets: list[int] = []
    for batch in _batches(found):
        while waiting and waiting[0][0] <= batch.last:
            aborting.add(waiting.pop(0)[1])
        producer_id = batch.header.producer_id
        if batch.control:
            if batch.aborts:
                aborting.discard(producer_id)
        elif not (batch.transactional and producer_id in aborting):
            offsets += range(max(batch.base, start), batch.last + 1)
    return offsets


def _producers(answer: Any, side: Side) -> Any:
    """The time of a marker is the broker's: ages are compared as old or not."""
    found = answer.topics[0].partitions[0]
    return found.error_code, sorted(
        (
            side.label(each.producer_id),
            each.producer_epoch,
            each.last_sequence,
            each.current_txn_start_offset,
            each.coordinator_epoch >= 0,
            "old" if side.now_ms - each.last_timestamp > op.OLD // 2 else "new",
        )
        for each in found.active_producers
    )


def _describe_producers_request(side: Side, partition: int) -> Any:
    topic, number = side.partitions[partition]
    entry = DescribeProducersRequest.TopicRequest(name=topic, partition_indexes=[number])
    return DescribeProducersRequest(topics=[entry])


def list_offsets_request(operation: op.ListOffsets, side: Side) -> Any:
    topic, number = side.partitions[operation.partition]
    topic_entry = messages.ListOffsetsRequest.ListOffsetsTopic
    wanted = operation.timestamp
    entry = topic_entry.ListOffsetsPartition(
        partition_index=number,
        current_leader_epoch=side.epoch(operation.partition, operation.current),
        timestamp=wanted if wanted < 0 else side.now_ms - wanted,
    )
    return messages.ListOffsetsRequest(
        replica_id=-1,
        isolation_level=int(operation.committed),
        topics=[topic_entry(name=topic, partitions=[entry])],
        max_version=6,
    )
