"""Compares what stands on both sides, partition by partition.

Nothing missing, nothing twice, the same order, the same key, value, headers and timestamp. What a fault may
cost beyond that is `Allowed`: it is counted in columns of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

STRANGER = -1
_SEQUENCE_BITS = 48


class Entry(NamedTuple):
    """Writer and sequence as one number (STRANGER: no record of ours), a hash of all that a record carries,
    and its offset in the log that it was read from."""

    identity: int
    content: int
    offset: int = -1


Log = dict[tuple[str, int], list[Entry]]
#: Source offsets.
Ranges = Sequence[range]


def identity_of(writer: int, sequence: int) -> int:
    return writer << _SEQUENCE_BITS | sequence


def all_of(writer: int) -> range:
    """Every identity that a writer may give."""
    return range(identity_of(writer, 0), identity_of(writer + 1, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Records that a target has too few, too many, or other than its source."""

    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    altered: int = 0  # the same record, another content
    foreign: int = 0  # never committed on the source: aborted, broken, or a stranger's
    # Allowed, where the fault leaves a mirror no choice:
    withdrawn: int = 0  # on the target, but aborted or truncated on the source
    passed_over: int = 0  # missing: deleted on the source before it was mirrored, and reported
    copied_again: int = 0  # doubled, and reported
    # Not allowed:
    unreported: int = 0  # the target had lost it, and the mirror has not reported its range

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    @property
    def none(self) -> bool:
        return self == Difference()


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What one partition of the target may differ in, and what must have been reported of it."""

    withdrawn: Container[
        int
    ] = ()  # identities that may be there although the source has them no more
    missing: Ranges = ()
    doubled: Ranges = ()
    reported: Ranges = ()
    target_lost: Collection[int] = ()  # identities of records that the target had and lost


STRICT = Allowed()


def compare(
    source: Sequence[Entry], target: Iterable[Entry], allowed: Allowed = STRICT
) -> Difference:
    """One partition: how many records differ in which way."""
    return count(find(source, target, allowed))


def count(found: Mapping[str, Sequence[int]]) -> Difference:
    return Difference(**{kind: len(offsets) for kind, offsets in found.items()})


def find(
    source: Sequence[Entry], target: Iterable[Entry], allowed: Allowed = STRICT
) -> dict[str, list[int]]:
    """The offsets of records that differ, by the names of `Difference`: the source's, or the target's where
    the source does not have it. A record is out of order if one that follows it upstream came before it."""
    places = {entry.identity: index for index, entry in enumerate(source)}
    seen: set[int] = set()
    found: dict[str, list[int]] = {each.name: [] for each in fields(Difference)}
    last = -1
    for identity, content, downstream in target:
        place = places.get(identity)
        offset = downstream if place is None else source[place].offset
        if identity in seen:
            reported = place is not None and covers(allowed.doubled, offset)
            found["copied_again" if reported else "doubled"].append(offset)
        elif place is not None:
            seen.add(identity)
            if content != source[place].content:
                found["altered"].append(offset)
            if place < last:
                found["disordered"].append(offset)
            last = max(last, place)
        elif identity in allowed.withdrawn:
            seen.add(identity)
            found["withdrawn"].append(offset)
        else:
            found["foreign"].append(offset)
    for entry in source:
        if entry.identity not in seen:
            kind = "passed_over" if covers(allowed.missing, entry.offset) else "lost"
            found[kind].append(entry.offset)
    lost_by_target = (places.get(identity) for identity in allowed.target_lost)
    offsets = (source[place].offset for place in lost_by_target if place is not None)
    found["unreported"] = [each for each in offsets if not covers(allowed.reported, each)]
    return found


def spans(offsets: Iterable[int]) -> list[list[int]]:
    """[first, last] of each run of offsets. Ends of transactions between them divide a run."""
    runs: list[list[int]] = []
    for offset in sorted(offsets):
        if runs and offset - runs[-1][1] <= 1:
            runs[-1][1] = offset
        else:
            runs.append([offset, offset])
    return runs


def covers(ranges: Ranges, offset: int) -> bool:
    return any(offset in each for each in ranges)


def missing_at_source(log: Log, acknowledged: Mapping[tuple[str, int], Sequence[range]]) -> int:
    """Records that brokers have acknowledged to a writer and do not have: no mirror can copy those."""
    missing = 0
    for where, ranges in acknowledged.items():
        found = {entry.identity & (1 << _SEQUENCE_BITS) - 1 for entry in log[where]}
        missing += sum(sequence not in found for each in ranges for sequence in each)
    return missing
