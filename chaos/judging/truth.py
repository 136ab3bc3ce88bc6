"""What faults have done to the logs, and which differences each fault allows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from chaos.judging.archive import Archive
from chaos.judging.oracle import Entry

Where = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Differences that a fault makes unavoidable: counted in columns of their own, without a bar."""

    #: Records of aborted transactions may be on the target: they were mirrored under read_uncommitted.
    aborted: bool = False
    #: Records that the source lost after they were mirrored may be on the target.
    truncated: bool = False
    #: Records deleted on the source may be missing, if a line at ERROR names their offsets.
    passed_over: bool = False
    #: Records may be on the target twice, if a line at WARN or ERROR names their offsets and warns of it.
    copied_again: bool = False


@dataclass(slots=True, kw_only=True)
class Truth:
    """`source` includes deleted records: faults read the log before they delete."""

    source: Archive
    targets: Archive
    #: Source offsets below this one were deleted.
    deleted: dict[Where, int] = field(default_factory=dict)
    #: Records that a remote partition had acknowledged and lost.
    target_lost: dict[Where, list[Entry]] = field(default_factory=lambda: defaultdict(list))
