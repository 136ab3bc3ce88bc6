"""What must hold of a target when its source rests: each violated law is said in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.model import GapKind
from simulation.scenarios import Scenario
from simulation.source_log import offset_of
from simulation.target_log import FOREIGN, Entry
from simulation.transactional_target import TransactionalWorld
from simulation.world import SOURCE, LoggedGap, World

_SHOWN = 8


class Oracle:
    """Of one world."""

    def __init__(
        self,
        world: World,
        scenario: Scenario,
        is_owed: Callable[[int], bool] = lambda _: True,
        *,
        may_double: bool = False,
    ) -> None:
        self._may_double = may_double
        self._world = world
        self._scenario = scenario
        self._landed = [
            (entry.base + at, value)
            for entry in world.target.entries
            for at, value in enumerate(entry.values())
            if value != FOREIGN
        ]
        #: When the requests were sent that have brought a value.
        self._sent: dict[bytes, list[int]] = {}
        for entry in world.target.entries:
            for value in entry.values():
                if value != FOREIGN:
                    self._sent.setdefault(value, []).append(entry.sent)
        #: What the source has, or had until retention removed it, by offset.
        self.wanted = {
            offset: value
            for offset, value in (world.source.deleted | world.source.committed()).items()
            if offset >= world.owed_from and is_owed(offset)
        }

    def violations(self) -> Iterator[str]:
        yield from self._lost()
        if not self._may_double:
            yield from self._doubled()
        yield from self._out_of_order()
        if self._scenario.certain and self._world.fallbacks:
            offsets = [fallback.offset for fallback in self._world.fallbacks]
            yield f"fallbacks that nothing justifies, from {_some(offsets)} on"
        yield from self._ahead()

    def _lost(self) -> Iterator[str]:
        """Every record is on the target, in quarantine, or in a gap that was logged with its offsets."""
        away, deleted = self._quarantined(), self._world.source.deleted
        overtaken = _offsets(self._logged(GapKind.OVERTAKEN)) | self._replaced()
        silent = [
            offset
            for offset, value in self.wanted.items()
            if value not in self._sent
            and offset not in away
            and not (offset in deleted and offset in overtaken)
            and not self._target_loss_logged(offset, value)
        ]
        if silent:
            yield f"{len(silent)} records are lost, and it was not logged: {_some(silent)}"

    def _replaced(self) -> frozenset[int]:
        """Before these offsets the source had deleted what would have shown whether it was truncated: records
        in the place of mirrored ones may be gone unread, as the log says."""
        return frozenset(
            at
            for each in self._logged(GapKind.TRUNCATED)
            for at in range(each.gap.first, min(each.gap.end, each.gap.resumed))
        )

    def _target_loss_logged(self, offset: int, value: bytes) -> bool:
        """Since the target lost it. Not needed if the target's retention has deleted the offset where it was:
        no reader, nor the mirror, can tell then whether it was lost before that."""
        lost = self._world.lost_by_target.get(value)
        if lost is None:
            return False
        logged = any(
            each.moment > lost.moment and each.gap.first <= offset < each.gap.end
            for each in self._logged(GapKind.TARGET_LOST)
        )
        return logged or self._is_hidden(value) or lost.offset < self._world.target.start

    def _is_hidden(self, value: bytes) -> bool:
        """Open, at least once: a loss shows by the length of the log, or by where numbers of ours stand. If
        another writer has made up for the length before the mirror looked, and nothing of ours was written
        since, neither tells. Leader epochs of the target's log would (KIP-320), as under exactly once."""
        lost = self._world.lost_by_target.get(value)
        if isinstance(self._world, TransactionalWorld):
            return False
        return lost is not None and any(
            at >= lost.offset and moment > lost.moment
            for at, moment in self._world.foreign_at.items()
        )

    def _doubled(self) -> Iterator[str]:
        """A record is sent again only from an offset on at which the mirror has logged, since the record was
        last sent, that it falls back to at least once.

        In transactions: if the target loses the markers behind a batch while the coordinator has a commit
        under way, that marker decides over the batch as well, and may bring back one that was aborted. No
        client can prevent it; the mirror must log the loss, or a fallback, when it finds it.
        """
        late, unseen = self._unfenced(), self._world.target.unseen
        silent = [
            offset_of(value)
            for value, sent in self._sent.items()
            for first, again in pairwise(sorted(at for at in sent if at not in unseen))
            if first not in late
            and not self._came_back(offset_of(value), first, again)
            and not any(
                each.offset <= offset_of(value) and first <= each.moment <= again
                for each in self._world.fallbacks
            )
        ]
        if silent:
            yield f"{len(silent)} records are doubled, and it was not logged: {_some(silent)}"

    def _came_back(self, offset: int, first: int, again: int) -> bool:
        reopened = self._world.target.reopened
        if first not in reopened and again not in reopened:
            return False
        lost = self._logged(GapKind.TARGET_LOST)
        found = any(e.moment > again and e.gap.first <= offset < e.gap.end for e in lost)
        return found or any(e.moment > again and e.offset <= offset for e in self._world.fallbacks)

    def _unfenced(self) -> frozenset[int]:
        """When late requests were sent that landed right before the first batch of a later epoch of their
        producer id, or right before a restart of the leader that made it forget this producer.

        Such a batch fences what a dead task has sent, but only once it is appended: without a
        transactional.id no request raises a producer's epoch in a log but an append. So a request that lands
        after the look at the target, and before that batch, cannot be refused, and its records are sent
        again. Exactly once has InitProducerId for this. The next batch of the same epoch would be refused
        instead, unless the leader forgets the producer between the two: it does so when it restarts, if the
        records are older than producer.id.expiration.ms (`docs/limits.md`).
        """
        if isinstance(self._world, TransactionalWorld):
            return frozenset()
        ours = [each for each in self._world.target.entries if each.identity.producer_id >= 0]
        return frozenset(self._world.target.forgotten_late) | frozenset(
            entry.sent
            for at, entry in enumerate(ours)
            if entry.late
            and (later := next((e for e in ours[at:] if not e.late), None)) is not None
            and later.identity.producer_id == entry.identity.producer_id
            and later.identity.epoch > entry.identity.epoch
        )

    def _out_of_order(self) -> Iterator[str]:
        """Records that stand twice count where they stand first. Those that the target has lost, and that are
        copied again, stand behind what was under way; so do those that follow a fallback, behind what a late
        request has brought, or if they were in quarantine before it. Those of aborted transactions may, if a
        later mirror reads them under another isolation level. At least once in a lane, nothing fences what a
        dead task has sent: the order is that of each task."""
        wanted, lost = set(self.wanted.values()), self._world.lost_by_target
        recopied, away = _offsets(self._logged(GapKind.TARGET_LOST)), self._quarantined()
        first: dict[bytes, Entry] = {}
        for entry in self._world.target.entries:
            first |= {v: entry for v in entry.values() if v in wanted and v not in first}
        wrong = [
            int(value)
            for (before, earlier), (value, entry) in pairwise(first.items())
            if int(value) < int(before)
            and offset_of(value) not in recopied
            and not (self._may_double and earlier.identity[0] != entry.identity[0])
            and not (value in lost and lost[value].moment < entry.sent)
            and not (
                (earlier.late or offset_of(value) in away)
                and self._falls_back(offset_of(value), entry.sent)
            )
        ]
        if wrong:
            yield f"{len(wrong)} records stand behind later ones: {_some(wrong)}"

    def _falls_back(self, offset: int, sent: int) -> bool:
        return any(e.offset <= offset and e.moment <= sent for e in self._world.fallbacks)

    def _ahead(self) -> Iterator[str]:
        """A translated offset never passes a record that the group has not read: every record from the
        upstream offset on stands at the translated one or behind it. Records that the source deleted before
        they were known to be mirrored are passed over, as the log says with their offsets: some of them may
        stand on the target all the same; so may records in quarantine, if the target once took them. Records
        that the target's retention has deleted are passed over by no translation: they cannot be read."""
        loaded = load_offset_maps(self._world.state.items())
        ranges = loaded.offset_maps.get(SOURCE)
        if ranges is None:
            return
        readable = self._world.target.start
        last = {offset_of(value): at for at, value in self._landed if at >= readable}
        least, ahead = self._world.target.end, list[int]()
        passed = _offsets(self._logged(GapKind.OVERTAKEN)) & self._world.source.deleted.keys()
        hidden = {offset for offset, value in self.wanted.items() if self._is_hidden(value)}
        exempt = passed | hidden | self._quarantined()
        for offset in sorted(self.wanted.keys() - exempt, reverse=True):
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

    def _logged(self, kind: GapKind) -> list[LoggedGap]:
        return [logged for logged in self._world.gaps if logged.gap.kind is kind]


def _offsets(gaps: Iterable[LoggedGap]) -> frozenset[int]:
    return frozenset(at for logged in gaps for at in range(logged.gap.first, logged.gap.end))


def _some(offsets: list[int]) -> str:
    rest = len(offsets) - _SHOWN
    return ", ".join(map(str, offsets[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")
