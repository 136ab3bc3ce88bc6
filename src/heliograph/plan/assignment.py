"""Assigns partitions to tasks by measured load.

Longest processing time first: the lease with the largest load goes to the least loaded task. The result is
at most 4/3 of the optimum, and no task exceeds the average by more than one lease.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignable(Generic[K]):
    """A lease to assign. `load` is any additive measure (bytes/s, bytes of lag); 0 if unknown.

    `flow` matters only if a flow may not use all bins (its `tasks.max`).
    """

    key: K
    load: float = 0.0
    flow: str = ""


@dataclass(slots=True)
class _Bin(Generic[K]):
    index: int
    load: float = 0.0
    keys: list[K] = field(default_factory=list)
    flows: set[str] = field(default_factory=set)


def assign(
    items: Sequence[Assignable[K]], bins: int, tasks_max: Mapping[str, int] | None = None
) -> list[list[K]]:
    """Distributes `items` over exactly `bins` lists, some of them empty if there are few items.

    Every key is assigned once. Deterministic: the same items in the same order give the same lists. Equal
    loads are assigned round robin, so that counts differ by at most one. Items with unknown load balance the
    counts instead. A flow in `tasks_max` is in at most that many bins.
    """
    if bins < 1:
        raise ValueError(f"bins: expected at least 1, found {bins}")
    packed: list[_Bin[K]] = [_Bin(index) for index in range(bins)]
    for item in sorted(items, key=lambda item: -item.load):
        open_bins = _open_to(item, packed, tasks_max or {})
        chosen = min(open_bins, key=partial(_rank, item))
        chosen.load += item.load
        chosen.keys.append(item.key)
        chosen.flows.add(item.flow)
    return [each.keys for each in packed]


def imbalance(loads: Mapping[K, float], assigned: Sequence[Sequence[K]]) -> float:
    """Load of the busiest bin over the average; 1.0 is perfect, len(assigned) means that one has all."""
    sums = [sum(loads.get(key, 0.0) for key in keys) for keys in assigned]
    total = sum(sums)
    return max(sums) * len(sums) / total if total > 0 else 1.0


def relief(
    items: Sequence[Assignable[K]],
    assigned: Sequence[Sequence[K]],
    tasks_max: Mapping[str, int] | None = None,
) -> float:
    """The share of its load that the busiest bin would lose by a new assignment, 0.0 to 1.0.

    This, not `imbalance`, decides whether a new epoch pays: if one partition has most of the load, no
    assignment balances it.
    """
    loads = {item.key: item.load for item in items}
    now = imbalance(loads, assigned)
    best = imbalance(loads, assign(items, len(assigned), tasks_max))
    return max(0.0, 1.0 - best / now)


def _open_to(
    item: Assignable[K], packed: list[_Bin[K]], tasks_max: Mapping[str, int]
) -> list[_Bin[K]]:
    limit = tasks_max.get(item.flow)
    if limit is None:
        return packed
    used = [each for each in packed if item.flow in each.flows]
    return used if len(used) >= max(1, limit) else packed


def _rank(item: Assignable[K], candidate: _Bin[K]) -> tuple[float, float, int]:
    load, count = candidate.load, len(candidate.keys)
    return (load, count, candidate.index) if item.load > 0 else (count, load, candidate.index)
