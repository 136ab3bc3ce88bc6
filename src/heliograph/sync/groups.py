"""Moves the target's idle groups to where the source's groups are: what `plan/group_offsets.py` decides."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from heliograph.client.admin.groups import commit_offsets, committed_offsets, describe_groups
from heliograph.client.admin.topics import LATEST, list_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError
from heliograph.model import GroupOffsets, TopicPartition
from heliograph.plan.group_offsets import (
    Checkpoints,
    OffsetDecision,
    plan_group_offsets,
    why_left_alone,
    within_log_ends,
)

log = logging.getLogger(__name__)

_UNKNOWN_MEMBER_ID = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDecisions:
    """Every decision with its reason, and the groups that could not be read."""

    decisions: list[OffsetDecision]
    errors: dict[str, BrokerError]

    @property
    def commits(self) -> GroupOffsets:
        commits: GroupOffsets = {}
        for decision in self.decisions:
            if decision.offset is not None and decision.partition is not None:
                commits.setdefault(decision.group, {})[decision.partition] = decision.offset
        return commits


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSync:
    """Every decision with its reason, how many offsets were committed, and what was refused by group."""

    decisions: list[OffsetDecision]
    committed: int
    problems: dict[str, str]


def sync_group_offsets(target: ClusterClient, checkpoints: Checkpoints) -> GroupSync:
    """Bring idle and absent groups up to their checkpoints; a handful of requests for any number."""
    found = observe_group_offsets(target, checkpoints)
    commits = found.commits
    refused = commit_offsets(target, commits)
    committed = sum(len(its) for group, its in commits.items() if group not in refused)
    if committed:
        log.debug("%s: %d offsets committed for groups", target.config.alias, committed)
    problems = {group: _sentence(error) for group, error in (found.errors | refused).items()}
    return GroupSync(decisions=found.decisions, committed=committed, problems=problems)


def observe_group_offsets(target: ClusterClient, checkpoints: Checkpoints) -> GroupDecisions:
    """What is to be committed on the target, and what not; commits nothing."""
    states = describe_groups(target, checkpoints)
    left = {g: why for g in checkpoints if (why := why_left_alone(states.get(g))) is not None}
    # An absent group is asked for its offsets, too: one that was just moving to another coordinator was
    # not listed, and must not be taken back.
    on_target, failed = committed_offsets(target, checkpoints.keys() - left.keys())
    decisions = [OffsetDecision(group, None, None, why) for group, why in left.items()]
    planned = plan_group_offsets(checkpoints, on_target)
    ends = log_ends(target, {d.partition for d in planned if d.offset is not None and d.partition})
    decisions += within_log_ends(planned, ends)
    return GroupDecisions(decisions=decisions, errors=failed)


def log_ends(
    cluster: ClusterClient, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """High watermarks of those partitions that exist."""
    wanted = set(partitions)
    if not wanted:
        return {}
    found = cluster.refresh({partition.topic for partition in wanted}).partitions
    return list_offsets(cluster, [p for p in wanted if p.partition < found.get(p.topic, 0)], LATEST)


def _sentence(error: BrokerError) -> str:
    if error.code == _UNKNOWN_MEMBER_ID:
        return f"{error}; consumers have begun to use this group on the target, it is left alone"
    return str(error)
