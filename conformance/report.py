"""Summarises a comparison: answers that are alike, listed differences, unlisted ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.answer import Answer
from conformance.compare import Difference, differences
from conformance.known import Known, covering


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`unlisted` must be empty."""

    steps: int
    alike: int
    listed: Mapping[str, int]
    unlisted: Sequence[Difference]
    idle: Sequence[str]

    def lines(self) -> list[str]:
        return [
            *(str(each) for each in self.unlisted),
            "",
            f"{self.steps} requests, {self.alike} answered alike",
            *(f"  {count:4} listed: {title}" for title, count in self.listed.items()),
            *(f"       listed, but not seen: {title}" for title in self.idle),
            f"  {len(self.unlisted):4} not listed",
        ]


def compare_all(
    java: Mapping[str, Answer], ours: Mapping[str, Answer], known: Sequence[Known]
) -> Report:
    """Compares the steps that both have."""
    alike = 0
    listed: Counter[str] = Counter()
    unlisted: list[Difference] = []
    steps = [step for step in java if step in ours]
    for step in steps:
        found = differences(step, java[step], ours[step])
        alike += not found
        for each in found:
            entry = covering(known, each, java[step], ours[step])
            if entry is None:
                unlisted.append(each)
            else:
                listed[entry.title] += 1
    return Report(
        steps=len(steps),
        alike=alike,
        listed=listed,
        unlisted=unlisted,
        idle=[entry.title for entry in known if entry.title not in listed],
    )
