"""Commits translated offsets for idle groups on the target, as `plan/group_offsets.py` plans."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heliograph.client.admin.groups import commit_offsets, committed_offsets, describe_groups
from heliograph.client.admin.topics import LATEST, list_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.counted import counted
from heliograph.errors import BrokerError
from heliograph.model import CommittedOffset, GroupOffsets, TopicPartition
from heliograph.plan.group_offsets import (
    Checkpoints,
    OffsetDecision,
    of_known_topics,
    plan_group_offsets,
    plan_taking_back,
    why_left_alone,
    within_log_ends,
)
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)


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
    """Every decision with its reason, the number of committed offsets, and problems by group."""

    decisions: list[OffsetDecision]
    committed: int
    problems: dict[str, str]


def sync_group_offsets(
    target: ClusterClient,
    checkpoints: Checkpoints,
    topic_ids: Mapping[str, str | None] | None = None,
) -> GroupSync:
    """Move idle and missing groups to their checkpoints, with a few requests for any number of groups.
    `topic_ids` are those of the remote topics that the checkpoints belong to."""
    found = observe_group_offsets(target, checkpoints, topic_ids)
    commits = found.commits
    refused = commit_offsets(target, commits)
    committed = sum(len(its) for group, its in commits.items() if group not in refused)
    if committed:
        offsets = counted(committed, "offset")
        log.debug("%s: %s of groups committed", target.config.alias, offsets)
    problems = {group: _sentence(error) for group, error in (found.errors | refused).items()}
    return GroupSync(decisions=found.decisions, committed=committed, problems=problems)


def take_back_group_offsets(
    target: ClusterClient, void: Checkpoints, corrected: Checkpoints
) -> dict[str, str]:
    """Move groups back from checkpoints in `void`, of a log that does not exist any more, to the corrected
    ones. Returns the problems of groups for which that is not possible; raises BrokerError if a retry may
    help."""
    states = describe_groups(target, void)
    on_target, failed = committed_offsets(target, void)
    planned = plan_taking_back(void, corrected, on_target)
    in_use = {d.group: why for d in planned if (why := why_left_alone(states.get(d.group)))}
    commits = GroupDecisions(
        decisions=[decision for decision in planned if decision.group not in in_use], errors={}
    ).commits
    refused = failed | commit_offsets(target, commits)
    for error in refused.values():
        if error.retriable:
            raise error
    for group, offsets in commits.items():
        if group not in refused:
            log.warning(
                "%s: group %s moved back to %s", target.config.alias, group, _listed(offsets)
            )
    return {
        group: f"{group}: {why}, so it was not moved back to the corrected checkpoint; reset its offsets "
        "manually"
        for group, why in in_use.items()
    } | {group: _sentence(error) for group, error in refused.items()}


def observe_group_offsets(
    target: ClusterClient,
    checkpoints: Checkpoints,
    topic_ids: Mapping[str, str | None] | None = None,
) -> GroupDecisions:
    """Decide what to commit on the target; commits nothing."""
    states = describe_groups(target, checkpoints)
    left = {g: why for g in checkpoints if (why := why_left_alone(states.get(g))) is not None}
    # Offsets of missing groups are read, too: a group that was moving to another coordinator was not listed,
    # and must not be moved back.
    on_target, failed = committed_offsets(target, checkpoints.keys() - left.keys())
    decisions = [OffsetDecision(group, None, None, why) for group, why in left.items()]
    planned = plan_group_offsets(checkpoints, on_target)
    ends = log_ends(target, {d.partition for d in planned if d.offset is not None and d.partition})
    planned = of_known_topics(planned, topic_ids or {}, target.metadata.topic_id)
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


def _listed(offsets: Mapping[TopicPartition, CommittedOffset]) -> str:
    return ", ".join(f"{partition}: {to.offset}" for partition, to in offsets.items())


def _sentence(error: BrokerError) -> str:
    if error.code == ErrorCode.UNKNOWN_MEMBER_ID:
        return f"{error}; consumers have joined this group on the target, so it is not changed"
    return str(error)
