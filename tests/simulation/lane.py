"""A chain for runs of a lane: by its offset, a record is dropped, fails, or passes."""

from __future__ import annotations

from heliograph.copy.lane.chain import Applied, FailedRecord
from heliograph.model import TopicPartition
from heliograph.records.columns import Columns

_DROPPED, _FAILS = 5, 13


def is_dropped(offset: int) -> bool:
    return offset % _DROPPED == 0


class SomeChain:
    """Those that fail go to quarantine, in the transaction of those that pass."""

    def apply(self, columns: Columns, remote: TopicPartition) -> Applied:
        dropped = columns.offset % _DROPPED == 0
        failed = ~dropped & (columns.offset % _FAILS == 0)
        passed = ~dropped & ~failed
        return Applied(
            columns={remote: columns.keep(passed)} if passed.any() else {},
            failures=tuple(
                FailedRecord(int(offset), "simulated") for offset in columns.offset[failed]
            ),
        )
