"""The phases of a partition's copy, what each asks of the copy loop, and every way from one to another.

python -m heliograph.copy.state.phases prints them as a Mermaid diagram.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import NamedTuple

from heliograph.mm2.quarantine import Oversize


class Phase(StrEnum):
    RECOVERING = "recovering"  # how much of it is on the target is to be found out
    COPYING = "copying"
    CHECKING = "checking"  # whether the source's log is still the one that was read
    WAITING = "waiting"  # until the next try
    HALTED = "halted"  # until the driver or a user decides; this lease is over


class Command(Enum):
    """What the copy loop has to do with a partition now."""

    RECOVER = "find out how much of it is on the target"
    CHECK = "look at the source's log, once nothing is under way"
    FETCH = "fetch from `position`"
    QUARANTINE = "write the coordinates of `held`"
    WAIT = "nothing: an answer, a time or a user comes first"


class Held(NamedTuple):
    """Records too large for the target; the copy goes on at `position` once they stand in quarantine."""

    records: Sequence[Oversize]
    position: int


class Arrow(NamedTuple):
    before: Phase
    event: str  # a method of Partition
    after: Phase


_R, _C, _K, _W, _H = Phase.RECOVERING, Phase.COPYING, Phase.CHECKING, Phase.WAITING, Phase.HALTED
_RUNS = (_C, _K, _W)

#: Every change of phase; other events leave it as it is. Random walks meet no other
#: (tests/unit/copy/test_partition_walk.py), and docs/architecture.md draws them.
TRANSITIONS = frozenset(
    [
        *(Arrow(_R, "recovered", after) for after in (_C, _K)),
        *(Arrow(before, event, _R) for before in _RUNS for event in ("refused", "renumber")),
        *(
            Arrow(before, "acknowledged", _R) for before in _RUNS
        ),  # at a barrier, or it showed a loss
        *(Arrow(before, "aborted", _R) for before in _RUNS),
        Arrow(_C, "fetched", _R),  # at a barrier
        Arrow(_C, "failed", _W),
        Arrow(_C, "released", _W),
        Arrow(_W, "retried", _C),
        *(Arrow(before, "suspect_source", _K) for before in (_C, _W)),
        *(Arrow(_K, "confirm_source", after) for after in (_C, _W, _R)),
        *(Arrow(before, event, _H) for before in (_R, *_RUNS) for event in ("halt", "replaced")),
    ]
)


def diagram() -> str:
    """As Mermaid draws it: an arrow for each pair of phases, with all events that lead there."""
    events: dict[tuple[Phase, Phase], list[str]] = {}
    for arrow in sorted(TRANSITIONS):
        events.setdefault((arrow.before, arrow.after), []).append(arrow.event)
    arrows = (
        f"    {before} --> {after}: {', '.join(its)}" for (before, after), its in events.items()
    )
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.RECOVERING}", *arrows])


if __name__ == "__main__":
    sys.stdout.write(f"{diagram()}\n")
