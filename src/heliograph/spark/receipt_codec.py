"""Encodes receipts as JSON for the control channel, and decodes them.

`Receipt` in `model.py` declares the fields. Receipts are sent over the control channel only; the rows that
Spark returns say only that a task has ended.
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from heliograph.measured import BatchCounts, Times
from heliograph.model import (
    AckedOffsets,
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
)

_NAMES = tuple(each.name for each in fields_of(Receipt))


def to_json(receipt: Receipt) -> dict[str, Any]:
    """Like `asdict`, which would copy every range of the offset map."""
    times = {"ages": receipt.ages.row(), "latencies": receipt.latencies.row()}
    return {**{name: getattr(receipt, name) for name in _NAMES}, **times}


def from_json(fields: dict[str, Any]) -> Receipt:
    """Raises KeyError, TypeError or ValueError if it is not a receipt."""
    values = {
        "state": PartitionState(fields["state"]),
        "snapshot": snapshot_from_json(fields["snapshot"]),
        "mark": LeaderEpochMark.of(fields["mark"]),
        "acked_offsets": AckedOffsets(*acked) if (acked := fields["acked_offsets"]) else None,
        "gaps": tuple(Gap(GapKind(kind), *numbers) for kind, *numbers in fields["gaps"]),
        "ranges": tuple(OffsetRange(*numbers) for numbers in fields["ranges"]),
        "batches": BatchCounts(*fields["batches"]),
        "ages": Times.of(fields["ages"]),
        "latencies": Times.of(fields["latencies"]),
    }
    return Receipt(**{**fields, **values})


def snapshot_from_json(numbers: Any) -> ProducerSnapshot | None:
    if numbers is None:
        return None
    upstream, downstream, sequence, identity, stored, isolation, mark, retired = numbers
    return ProducerSnapshot(
        *(upstream, downstream, sequence, ProducerIdentity(*identity), tuple(stored)),
        isolation=IsolationLevel(isolation) if isolation is not None else None,
        mark=LeaderEpochMark.of(mark),
        retired=retired,
    )
