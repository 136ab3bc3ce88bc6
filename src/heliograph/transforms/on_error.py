"""What becomes of records that fail in a chain: `on.error = fail | quarantine | skip`, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.model import OnError
from heliograph.transforms.rows import Failure


@dataclass(frozen=True, slots=True)
class Verdict:
    """`end`: only records before this row go to the target now; None: all that did not fail. `stopped_by` is
    the failure at `end`."""

    end: int | None = None
    quarantined: tuple[Failure, ...] = ()
    skipped: tuple[Failure, ...] = ()
    stopped_by: Failure | None = None


def judge(failures: Sequence[Failure], policy: OnError) -> Verdict:
    """Records before a failure are copied under any policy, as order in a partition requires."""
    ordered = tuple(sorted(failures, key=lambda each: each.row))
    if not ordered:
        return Verdict()
    match policy:
        case OnError.FAIL:
            return Verdict(end=ordered[0].row, stopped_by=ordered[0])
        case OnError.QUARANTINE:
            return Verdict(quarantined=ordered)
        case OnError.SKIP:
            return Verdict(skipped=ordered)
