"""What strikes have done to logs on purpose, which the oracle must know, and what a fault may cost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from chaos.archive import Archive
from chaos.oracle import Entry

Where = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a mirror has no choice about under a fault: counted, but in columns of its own, without a bar."""

    #: Records of aborted transactions may be on the target: they were mirrored under read_uncommitted.
    aborted: bool = False
    #: Records that the source lost after they were mirrored may be on the target.
    truncated: bool = False
    #: What was deleted on the source may be missing, if an ERROR line names its offset.
    passed_over: bool = False
    #: Records may be on the target twice, if a WARNING or ERROR line names their offsets and says so.
    copied_again: bool = False


@dataclass(slots=True, kw_only=True)
class Truth:
    """`source` has what was deleted, too: strikes read it before they delete."""

    source: Archive
    targets: Archive
    #: Source offsets below this one were deleted.
    deleted: dict[Where, int] = field(default_factory=dict)
    #: Records that a remote partition had acknowledged and lost.
    target_lost: dict[Where, list[Entry]] = field(default_factory=lambda: defaultdict(list))
