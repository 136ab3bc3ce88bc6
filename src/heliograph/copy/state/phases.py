"""The phases of a partition's copy, the command for each, and all transitions.

`python -m heliograph.copy.state.phases` prints them as a Mermaid diagram.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import NamedTuple

from heliograph.mm2.quarantine import Oversize


class Phase(StrEnum):
    RECOVERING = "recovering"  # find out how much is already on the target
    COPYING = "copying"
    CHECKING = "checking"  # whether the source's log is still the one that was read
    WAITING = "waiting"  # until the next attempt
    HALTED = "halted"  # until the driver or a user decides; not resumed under this lease


class Command(Enum):
    """What the copy loop has to do for a partition now."""

    RECOVER = "find out how much is already on the target"
    CHECK = "compare the source's log, once no batch is in flight"
    FETCH = "fetch from `position`"
    QUARANTINE = "write the coordinates of `held`"
    WAIT = "wait for a response, a retry time or a user"


class Held(NamedTuple):
    """Records too large for the target; the copy continues at `position` once they are in quarantine."""

    records: Sequence[Oversize]
    position: int


class Arrow(NamedTuple):
    before: Phase
    event: str  # a method of Partition
    after: Phase


_R, _C, _K, _W, _H = Phase.RECOVERING, Phase.COPYING, Phase.CHECKING, Phase.WAITING, Phase.HALTED
_RUNS = (_C, _K, _W)

#: Every change of phase; other events do not change it. Random walks find no others
#: (tests/unit/copy/test_partition_walk.py), and docs/architecture.md shows them.
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
    """A Mermaid diagram: an arrow for each pair of phases, with all events that lead there."""
    events: dict[tuple[Phase, Phase], list[str]] = {}
    for arrow in sorted(TRANSITIONS):
        events.setdefault((arrow.before, arrow.after), []).append(arrow.event)
    arrows = (
        f"    {before} --> {after}: {', '.join(its)}" for (before, after), its in events.items()
    )
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.RECOVERING}", *arrows])


if __name__ == "__main__":
    sys.stdout.write(f"{diagram()}\n")
