"""Observes which internal topics exist, and which could not be created."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from heliograph.client.net.cluster import ClusterClient
from heliograph.inspection.mirror_plan import InternalTopicPlan
from heliograph.plan.internal_topics import PlacedTopic

#: Gives the client of a flow's or pair's cluster by alias.
Client = Callable[[str], ClusterClient]


def observe_internal_topics(
    placed: Iterable[PlacedTopic], client: Client
) -> tuple[InternalTopicPlan, ...]:
    by_alias: dict[str, list[PlacedTopic]] = {}
    for each in placed:
        by_alias.setdefault(each.alias, []).append(each)
    found = {
        alias: client(alias).refresh(each.topic.name for each in its).partitions
        for alias, its in by_alias.items()
    }
    return tuple(
        InternalTopicPlan(
            cluster=each.alias,
            topic=each.topic.name,
            partitions=each.topic.partitions,
            replication_factor=each.topic.replication_factor,
            found=found[each.alias].get(each.topic.name),
        )
        for its in by_alias.values()
        for each in its
    )


def internal_topic_problems(
    placed: Iterable[PlacedTopic], plans: Iterable[InternalTopicPlan], client: Client
) -> dict[str, str]:
    """By option: why internal topics that are missing could not be created."""
    missing = {(plan.cluster, plan.topic) for plan in plans if plan.found is None}
    problems: dict[str, str] = {}
    for each in placed:
        if (each.alias, each.topic.name) in missing:
            factor = each.topic.replication_factor
            problems |= too_few_brokers(client(each.alias), each.option, factor)
    return problems


def too_few_brokers(cluster: ClusterClient, option: str, factor: int) -> dict[str, str]:
    """Why the controller would refuse to create a topic; -1 leaves the factor to the brokers."""
    alias, brokers = cluster.config.alias, len(cluster.metadata.nodes)
    if factor <= brokers:
        return {}
    return {
        f"{option} on {alias}": f"{alias} has {brokers} brokers, so no topic can be created with "
        f"{option} = {factor}; set it to {brokers} or less, or to -1 for the brokers' default"
    }
