"""Replaces checkpoints of remote topics that were deleted and created again."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from heliograph.counted import counted
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import TopicPartition
from heliograph.plan.checkpoints import PlannedCheckpoints, from_the_start
from heliograph.sync.checkpoint_log import CheckpointsByGroup
from heliograph.sync.logs import Recreated

log = logging.getLogger(__name__)


class VoidCheckpoints:
    """Of one flow. `by_group` are the void checkpoints that are not replaced yet."""

    def __init__(self, flow: str) -> None:
        self.by_group: CheckpointsByGroup = {}
        self._flow = flow
        #: Replaced by offset 0 of the new log, which lacks records that the group has not read.
        self._from_start: set[tuple[str, TopicPartition]] = set()

    def find(self, recreated: Iterable[Recreated], previous: CheckpointsByGroup) -> None:
        """Find the `previous` checkpoints of topics that were created again."""
        topics = {each.remote for each in recreated if each.on_target}
        for group, its in previous.items() if topics else ():
            void = {p: checkpoint for p, checkpoint in its.items() if p.topic in topics}
            if void:
                self.by_group.setdefault(group, {}).update(void)

    def from_start(self, planned: Mapping[str, PlannedCheckpoints]) -> list[Checkpoint]:
        """Replacements at offset 0 for those without a planned one."""
        return [
            checkpoint
            for group, void in self.by_group.items()
            for checkpoint in from_the_start(void, planned[group].emit if group in planned else ())
        ]

    def log_recreated(self, recreated: Iterable[Recreated]) -> None:
        for each in recreated:
            corrected = sum(p.topic == each.remote for its in self.by_group.values() for p in its)
            log.error(
                "flow %s: %s was deleted and created again: the known offsets of its old log are "
                "dropped%s",
                self._flow,
                each.remote if each.on_target else each.topic,
                f"; {corrected:,} checkpoints are corrected" if each.on_target else "",
            )

    def replaced(self, emitted: Iterable[Checkpoint], from_start: Iterable[Checkpoint]) -> None:
        """These were written to the checkpoints topic."""
        self._from_start -= {(c.group, c.topic_partition) for c in emitted}
        self._from_start |= {(c.group, c.topic_partition) for c in from_start}
        self.by_group = {}

    def problems(self, followed: Collection[str]) -> dict[str, str]:
        """Problems by remote topic, until the groups have read past the missing records."""
        groups: dict[str, set[str]] = {}
        for group, partition in self._from_start:
            if group in followed:
                groups.setdefault(partition.topic, set()).add(group)
        return {
            topic: f"{topic} was deleted and created again, and lacks records not read yet by "
            f"{counted(len(its), 'group')} ({min(its)}{', …' if len(its) > 1 else ''}); their checkpoints "
            "are at its start"
            for topic, its in groups.items()
        }
