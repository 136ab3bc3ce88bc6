"""What must hold of a target when its source rests: each violated law is said in a sentence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.model import Gap, GapKind
from simulation.scenarios import Feature, Scenario
from simulation.source_log import offset_of
from simulation.target_log import FOREIGN
from simulation.world import SOURCE, World

_SHOWN = 8


class Oracle:
    """Of one world."""

    def __init__(self, world: World, scenario: Scenario) -> None:
        self._world = world
        self._scenario = scenario
        self._landed = [
            (entry.base + at, value)
            for entry in world.target.entries
            for at, value in enumerate(entry.values())
            if value != FOREIGN
        ]
        self._counts = Counter(value for _, value in self._landed)
        #: What the source has, or had until retention removed it, by offset.
        self.wanted = world.source.deleted | world.source.committed()

    def violations(self) -> Iterator[str]:
        yield from self._lost()
        yield from self._doubled()
        yield from self._out_of_order()
        if self._scenario.certain and self._world.fallbacks:
            yield f"fallbacks that nothing justifies, from {_some(self._world.fallbacks)} on"
        if not self._scenario.loses:
            # Open: a kill between a loss on the target and the next write of the offset map leaves places
            # of lost records in the map.
            yield from self._ahead()

    def _lost(self) -> Iterator[str]:
        away = self._quarantined()
        lost = {
            offset: value
            for offset, value in self.wanted.items()
            if value not in self._counts and offset not in away
        }
        overtaken = _offsets(self._said(GapKind.OVERTAKEN))
        silent = [
            offset
            for offset, value in lost.items()
            if not (offset in self._world.source.deleted and offset in overtaken)
            and not (self._scenario.loses and self._target_loss_said(value))
        ]
        if silent:
            yield f"{len(silent)} records are lost, and it was not said: {_some(silent)}"

    def _target_loss_said(self, value: bytes) -> bool:
        """Since the target lost it.

        Open: a target that has lost all batches of a producer takes any number from it. If a batch under
        way lands in place of the lost ones, and the mirror is killed before it has looked, its successor
        finds a log that is long enough, and says a doubt, but no loss.
        """
        lost_ms = self._world.lost_by_target.get(value)
        if lost_ms is None:
            return False
        said = any(gap.at_ms >= lost_ms for gap in self._said(GapKind.TARGET_LOST))
        return said or self._world.target.took_any_number

    def _doubled(self) -> Iterator[str]:
        """Only behind an offset at which the mirror has said that it goes on at least once."""
        recopied = [gap.resumed for gap in self._said(GapKind.TARGET_LOST)]
        said = min([*self._world.fallbacks, *self._world.obeyed, *recopied], default=None)
        twice = [offset_of(value) for value, count in self._counts.items() if count > 1]
        fenced_late = self._fenced_late() if self._scenario.has(Feature.COMPACTION) else frozenset()
        silent = [
            offset
            for offset in twice
            if (said is None or offset < said) and offset not in fenced_late
        ]
        if silent:
            yield f"{len(silent)} records are doubled, and it was not said: {_some(silent)}"

    def _late(self) -> frozenset[int]:
        """Source offsets of records that late requests have brought."""
        entries = [each for each in self._world.target.entries if each.late]
        return frozenset(offset_of(value) for each in entries for value in each.values())

    def _fenced_late(self) -> frozenset[int]:
        """Open: compaction renumbers records that may be under way. A late request of the epoch before that
        lands after the look at the target, and before the first batch of the new epoch, is not fenced."""
        ours = [each for each in self._world.target.entries if each.identity.producer_id >= 0]
        return frozenset(
            offset_of(value)
            for at, entry in enumerate(ours)
            if entry.late
            and (later := next((e for e in ours[at:] if not e.late), None)) is not None
            and later.identity.epoch > entry.identity.epoch
            for value in entry.values()
        )

    def _out_of_order(self) -> Iterator[str]:
        """Records that stand twice count where they stand first."""
        first = list(dict.fromkeys(int(value) for _, value in self._landed))
        wrong = [value for before, value in pairwise(first) if value < before]
        if wrong and not (self._world.fallbacks or self._said(GapKind.TARGET_LOST)):
            yield f"{len(wrong)} records stand behind later ones: {_some(wrong)}"

    def _ahead(self) -> Iterator[str]:
        """A translated offset never passes a record that the group has not read: every record from the
        upstream offset on stands at the translated one or behind it."""
        loaded = load_offset_maps(self._world.state.items())
        ranges = loaded.offset_maps.get(SOURCE)
        if ranges is None:
            return
        # Open: a late request may bring records after all that were said to be passed over.
        passed = _offsets(self._said(GapKind.OVERTAKEN)) & self._late()
        last = {
            offset_of(value): at for at, value in self._landed if offset_of(value) not in passed
        }
        least, ahead = self._world.target.end, list[int]()
        for offset in sorted(self.wanted, reverse=True):
            least = min(least, last.get(offset, least))
            translated = ranges.translate(offset)
            if translated is not None and translated > least:
                ahead.append(offset)
        if ahead:
            yield f"{len(ahead)} offsets are translated to ones behind their records: {_some(ahead)}"

    def _quarantined(self) -> frozenset[int]:
        topic = self._world.quarantine
        entries = self._world.logs[topic].entries if topic is not None else []
        keys = [record.key or b"" for entry in entries for record in entry.records()]
        return frozenset(json.loads(key)[-1] for key in keys)

    def _said(self, kind: GapKind) -> list[Gap]:
        return [gap for gap in self._world.gaps if gap.kind is kind]


def _offsets(gaps: Iterable[Gap]) -> frozenset[int]:
    return frozenset(offset for gap in gaps for offset in range(gap.first, gap.end))


def _some(offsets: list[int]) -> str:
    rest = len(offsets) - _SHOWN
    return ", ".join(map(str, offsets[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")
