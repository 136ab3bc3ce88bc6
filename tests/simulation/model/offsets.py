"""Answers of ListOffsets (`UnifiedLog.fetchOffsetByTimestamp`, `Partition.fetchOffsetForTimestamp`)."""

from __future__ import annotations

from typing import NamedTuple

from simulation.model.partition_log import PartitionLog

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3


class FoundOffset(NamedTuple):
    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


def find_offset(log: PartitionLog, timestamp: int, *, committed: bool) -> FoundOffset:
    """By time: the first record that is not older. One that readers do not get yet counts as none."""
    end = log.last_stable if committed else log.high_watermark
    if timestamp == LATEST:
        return FoundOffset(end, leader_epoch=log.leader_epoch)
    if timestamp == EARLIEST:
        epoch = log.epochs.at(log.start)
        return FoundOffset(log.start, leader_epoch=epoch)
    if timestamp == MAX_TIMESTAMP:
        return _newest(log, end)
    for batch in log.batches:
        if batch.header.max_timestamp < timestamp or batch.last < log.start:
            continue
        for record in batch.records:
            if record.timestamp >= timestamp and record.offset >= log.start:
                if record.offset >= end:
                    return FoundOffset()
                return FoundOffset(record.offset, record.timestamp, batch.header.leader_epoch)
    return FoundOffset()


def _newest(log: PartitionLog, end: int) -> FoundOffset:
    best = FoundOffset()
    for batch in log.batches:
        for record in batch.records:
            if record.timestamp > best.timestamp:
                best = FoundOffset(record.offset, record.timestamp, batch.header.leader_epoch)
    return best if best.offset < end else FoundOffset()
