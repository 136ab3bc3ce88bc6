"""Decides where a copy resumes, and how many of the following records are already on the target.

The stored offset is a lower bound: a killed mirror has copied more than it could store. Its producer
snapshot in the state topic is newer, and the target's log is newest. Producers number their records per
partition, so the last batch of the snapshot's producer shows how many have landed since:

    upstream      stored        snapshot                          the copy resumes here
                    │             │  n records read and dropped  │
    ────────────────┴─────────────┴──────────────────────────────┴──────────
    sequence                      q                             q + n
    downstream                    d        (d + n, without other writers)   log end
"""

from __future__ import annotations

from typing import NamedTuple

from heliograph.counted import counted
from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import IsolationLevel, LastBatch, ProducerSnapshot
from heliograph.records.batch import SEQUENCES


class Resumption(NamedTuple):
    """`start` is None if nothing is stored: auto.offset.reset decides. `by_stored`: `start` is the stored
    offset, without a snapshot; or there is a snapshot, and the stored offset was deleted."""

    start: int | None
    snapshot: ProducerSnapshot | None = None
    by_stored: bool = False


def resumption(
    stored: int | None, record: ProducerSnapshotRecord | None, remote_topic: str
) -> Resumption:
    """Law: a stored offset that this mirror did not write is used exactly.

    A user has altered or reset it, or another mirror (a Java MM2) has run in between.
    """
    known = record.snapshot if record is not None and record.remote_topic == remote_topic else None
    if known is None or (-1 if stored is None else stored) not in known.stored:
        return Resumption(stored, by_stored=stored is not None or known is not None)
    return Resumption(known.upstream, known)


class Landed(NamedTuple):
    """`records` of ours have landed since the snapshot, and `foreign` records of other writers."""

    records: int
    foreign: int


class Undetermined(NamedTuple):
    """Which records of the source are on the target cannot be determined."""

    reason: str


class TargetLost(NamedTuple):
    """The target has lost acknowledged records from its offset `end` on. `copied_since`: newer records of
    ours are at those offsets now."""

    end: int
    copied_since: bool = False


def landed_since(
    snapshot: ProducerSnapshot, end: int, last: LastBatch | None, isolation: IsolationLevel
) -> Landed | Undetermined | TargetLost:
    """`end` is the target's log end; `last` is the last batch of the snapshot's producer at or after
    `snapshot.downstream`, or the last batch of the log, None if there is none. `isolation` is the current
    isolation level of the source: under another one, sequence numbers belonged to other records."""
    lost = _lost(snapshot, end, last)
    if lost is not None:
        return lost
    behind = end - snapshot.downstream if snapshot.downstream >= 0 else 0
    if last is None:
        return Landed(0, behind)
    if last.identity != snapshot.identity:
        return Undetermined(
            f"records of its producer's epoch {last.identity.epoch} follow, for which there is no snapshot"
        )
    records = (last.next_sequence - snapshot.sequence) % SEQUENCES
    if records >= SEQUENCES // 2:
        return TargetLost(last.next_offset)
    # A snapshot without a level is of a version that recorded none (d137458): `Numbering.unproven`.
    if records and snapshot.isolation not in (None, isolation):
        return Undetermined(
            f"{counted(records, 'record')} reached it under {snapshot.isolation}, and the source is read "
            f"under {isolation} now"
        )
    if snapshot.downstream < 0:
        return Landed(records, 0)
    if records > behind:
        return Undetermined(
            f"the target has {counted(behind, 'more record')}, but its writer's sequence has "
            f"advanced by {records}"
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
