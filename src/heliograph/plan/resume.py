"""Where a copy goes on, and how many records of it are on the target already.

The stored offset is a lower bound: a mirror that was killed has copied more than it could store. Its snapshot
in the state topic is newer, and the target's log is newest. Producers number their records per partition, so
the last batch of the snapshot's producer tells how many landed since:

    upstream      stored        snapshot                          here the copy goes on
                    │             │  n records read and dropped  │
    ────────────────┴─────────────┴──────────────────────────────┴──────────
    sequence                      q                             q + n
    downstream                    d        (d + n, if nobody else writes)   log end
"""

from __future__ import annotations

from typing import NamedTuple

from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import IsolationLevel, LastBatch, ProducerSnapshot
from heliograph.records.batch import SEQUENCES


class Resumption(NamedTuple):
    """`start` is None where nothing is stored: as auto.offset.reset says. `by_stored`: nobody but the
    offsets topic knows of `start`."""

    start: int | None
    snapshot: ProducerSnapshot | None = None
    by_stored: bool = False


def resumption(
    stored: int | None, record: ProducerSnapshotRecord | None, remote_topic: str
) -> Resumption:
    """Law: a stored offset that this mirror did not write is obeyed to the letter.

    It was altered or reset by hand, or another mirror (a Java MM2) has run meanwhile.
    """
    known = record.snapshot if record is not None and record.remote_topic == remote_topic else None
    if known is None or (-1 if stored is None else stored) not in known.stored:
        return Resumption(stored, by_stored=stored is not None)
    return Resumption(known.upstream, known)


class Landed(NamedTuple):
    """`records` have landed since the snapshot, `foreign` records of others among them."""

    records: int
    foreign: int


class Undetermined(NamedTuple):
    """Which records of the source are on the target cannot be determined."""

    reason: str


class TargetLost(NamedTuple):
    """The target has lost what it had acknowledged from its offset `end` on. `copied_since`: other records of
    ours stand there now."""

    end: int
    copied_since: bool = False


def landed_since(
    snapshot: ProducerSnapshot, end: int, last: LastBatch | None, isolation: IsolationLevel
) -> Landed | Undetermined | TargetLost:
    """`end` is the target's log end; `last` the snapshot's producer's last batch at or behind
    `snapshot.downstream`, or the very last one, None if it has none there. `isolation` is how the source is
    read now: numbers that were given to other records cannot be counted off."""
    lost = _lost(snapshot, end, last)
    if lost is not None:
        return lost
    behind = end - snapshot.downstream if snapshot.downstream >= 0 else 0
    if last is None:
        return Landed(0, behind)
    if last.identity != snapshot.identity:
        return Undetermined(
            f"records of its producer's epoch {last.identity.epoch} follow, of which no snapshot is known"
        )
    records = (last.next_sequence - snapshot.sequence) % SEQUENCES
    if records >= SEQUENCES // 2:
        return TargetLost(last.next_offset)
    if records and snapshot.isolation is not isolation:
        before = snapshot.isolation or "an unknown isolation level"
        return Undetermined(
            f"{records} records reached it under {before}, and the source is read under {isolation} now"
        )
    if snapshot.downstream < 0:
        return Landed(records, 0)
    if records > behind:
        return Undetermined(
            f"the target has {behind} records more, but its writer's sequence has moved by {records}"
        )
    return Landed(records, behind - records)


def _lost(snapshot: ProducerSnapshot, end: int, last: LastBatch | None) -> TargetLost | None:
    """Whether the target has lost records: its log ends before the snapshot's offset, or numbers that were
    given after the snapshot stand before it, in the place of what was lost.

        at the snapshot         … q-3 q-2 q-1 │            the next one is q
        lost, and written since … q-3 │ q q+1 q+2 …
    """
    if last is not None and last.next_offset >= 0 and snapshot.downstream >= 0:
        since = last.next_sequence
        if last.identity == snapshot.identity:
            since = (last.next_sequence - snapshot.sequence) % SEQUENCES
        first = (
            last.next_offset - since
        )  # where they begin; with records of others among them, before
        if 0 < since < SEQUENCES // 2 and first < snapshot.downstream:
            return TargetLost(max(first, 0), copied_since=True)
    return TargetLost(end) if end < snapshot.downstream else None
