"""Reads which of the source's groups a flow follows, and why not the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from heliograph.client.admin.groups import committed_offsets, list_groups
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import GroupOffsets
from heliograph.plan.checkpoints import why_not_followed, why_nothing_to_follow
from heliograph.policy.group_filter import GroupFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedGroups:
    """`passed_over` has the reason for each of the source's other groups; `unmatched`: items of `groups` that
    match nothing."""

    followed: frozenset[str]
    passed_over: dict[str, str]
    problems: dict[str, str]
    unmatched: dict[str, str] = field(default_factory=dict)

    @property
    def present(self) -> frozenset[str]:
        """All groups of the source."""
        return self.followed | self.passed_over.keys() | self.problems.keys()


def followed_groups(
    source: ClusterClient,
    group_filter: GroupFilter,
    target_name: Callable[[str], str | None],
    known: GroupOffsets,
) -> FollowedGroups:
    """`target_name` returns None for topics that the topic filter excludes. The offsets in `known` were read
    a moment ago; only those of other groups are read again."""
    passed_over: dict[str, str] = {}
    wanted = []
    for group, listing in list_groups(source).items():
        why = why_not_followed(listing, group_filter)
        if why is None:
            wanted.append(group)
        else:
            passed_over[group] = why
    offsets, failed = committed_offsets(source, [g for g in wanted if g not in known])
    offsets |= {group: known[group] for group in wanted if group in known}
    for group, its in offsets.items():
        why = why_nothing_to_follow(its, target_name)
        if why is not None:
            passed_over[group] = why
    return FollowedGroups(
        followed=frozenset(offsets.keys() - passed_over.keys()),
        passed_over=passed_over,
        problems={group: str(error) for group, error in failed.items()},
    )
