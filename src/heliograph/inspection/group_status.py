"""Observes the offsets of a flow's consumer groups on both clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from heliograph.client.admin.groups import committed_offsets, describe_groups
from heliograph.client.admin.topics import LATEST, available_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.lane import untranslated
from heliograph.config.mirror_config import FlowConfig
from heliograph.inspection.mirror_status import GroupPartition
from heliograph.inspection.status_rules import ObservedGroup, group_partition
from heliograph.model import TopicPartition
from heliograph.plan.group_offsets import why_left_alone
from heliograph.sync.checkpoints import CheckpointSync


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsView:
    partitions: tuple[GroupPartition, ...] = ()
    not_followed: Mapping[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unmatched: Mapping[str, str] = field(default_factory=dict)


def all_untranslated(flow: FlowConfig) -> dict[str, str]:
    """Why no group of the flow is followed, if its records may go to other topics."""
    why = untranslated(flow.lane)
    return {} if why is None else {"all groups": why}


def observe_groups(flow: FlowConfig, source: ClusterClient, target: ClusterClient) -> GroupsView:
    if flow.checkpoints is None:
        return GroupsView(not_followed=all_untranslated(flow))
    sync = CheckpointSync(flow, source, target)
    preview = sync.preview()
    groups = preview.offsets.keys()
    states = describe_groups(target, groups)
    on_target, failed = committed_offsets(target, groups)
    remote = {
        partition: TopicPartition(name, partition.partition)
        for its in preview.offsets.values()
        for partition in its
        if (name := sync.target_name(partition.topic)) is not None
    }
    source_ends = _ends(source, remote)
    target_ends = _ends(target, remote.values())
    left_alone = {group: why_left_alone(states.get(group)) for group in groups}
    synced = flow.checkpoints.sync_interval_seconds is not None
    seen = [
        ObservedGroup(
            group=group,
            partition=partition,
            remote=remote[partition],
            source=committed,
            source_end=source_ends.get(partition),
            checkpoint=preview.before.get(group, {}).get(remote[partition]),
            target=on_target.get(group, {}).get(remote[partition]),
            target_end=target_ends.get(remote[partition]),
            left_alone=left_alone[group],
            untranslated=preview.untranslated.get(group, {}).get(partition),
        )
        for group, its in sorted(preview.offsets.items())
        for partition, committed in sorted(its.items())
        if partition in remote
    ]
    return GroupsView(
        partitions=tuple(group_partition(each, synced=synced) for each in seen),
        not_followed=dict(sorted(preview.groups.passed_over.items())),
        unmatched=preview.groups.unmatched,
        problems=preview.problems | {group: str(error) for group, error in failed.items()},
    )


def _ends(
    cluster: ClusterClient, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """Log ends of partitions that exist and whose leader responds; the lag of others is unknown."""
    wanted = set(partitions)
    there = cluster.refresh({partition.topic for partition in wanted}).partitions
    return available_offsets(
        cluster, [p for p in wanted if p.partition < there.get(p.topic, 0)], LATEST
    )[0]
