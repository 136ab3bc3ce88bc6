"""Compares the records of both sides, partition by partition.

None missing, none twice, the same order, the same key, value, headers and timestamp. Deviations that a fault
makes unavoidable are `Allowed`, and counted in columns of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

STRANGER = -1
_SEQUENCE_BITS = 48


class Entry(NamedTuple):
    """Writer and sequence as one number (STRANGER: not written by a writer of this run), a hash of the
    record's content, and its offset in the log that it was read from."""

    identity: int
    content: int
    offset: int = -1


Log = dict[tuple[str, int], list[Entry]]
#: Source offsets.
Ranges = Sequence[range]


def identity_of(writer: int, sequence: int) -> int:
    return writer << _SEQUENCE_BITS | sequence


def all_of(writer: int) -> range:
    """Every identity of a writer."""
    return range(identity_of(writer, 0), identity_of(writer + 1, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Numbers of records by which a target differs from its source."""

    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    altered: int = 0  # the same record with another content
    foreign: int = 0  # not committed on the source: aborted, damaged, or of another writer
    # Allowed, where the fault makes it unavoidable:
    withdrawn: int = 0  # on the target, but aborted or truncated on the source
    passed_over: int = 0  # missing: deleted on the source before it was mirrored, and reported
    copied_again: int = 0  # doubled, and reported as possible
    # Not allowed:
    unreported: int = 0  # lost by the target, in a range that the mirror has not reported

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    @property
    def none(self) -> bool:
        return self == Difference()


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Allowed differences of one target partition, and losses that must have been reported."""

    withdrawn: Container[
        int
    ] = ()  # identities that may be on the target although the source no longer has them
    missing: Ranges = ()
    doubled: Ranges = ()
    reported: Ranges = ()
    target_lost: Collection[int] = ()  # identities of records that the target had and lost


STRICT = Allowed()


def compare(
    source: Sequence[Entry], target: Iterable[Entry], allowed: Allowed = STRICT
) -> Difference:
    """One partition: numbers of records by kind of difference."""
    return count(find(source, target, allowed))


def count(found: Mapping[str, Sequence[int]]) -> Difference:
    return Difference(**{kind: len(offsets) for kind, offsets in found.items()})


def find(
    source: Sequence[Entry], target: Iterable[Entry], allowed: Allowed = STRICT
) -> dict[str, list[int]]:
    """Offsets of differing records, by the names of `Difference`: the source's, or the target's for a record
    that the source lacks. A record is out of order if one that follows it upstream precedes it on the
    target."""
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
    """[first, last] of each run of consecutive offsets; a transaction marker ends a run."""
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
    """The number of records that the source acknowledged to a writer and lacks: no mirror can copy those."""
    missing = 0
    for where, ranges in acknowledged.items():
        found = {entry.identity & (1 << _SEQUENCE_BITS) - 1 for entry in log[where]}
        missing += sum(sequence not in found for each in ranges for sequence in each)
    return missing
