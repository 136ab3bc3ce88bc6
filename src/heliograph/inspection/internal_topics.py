"""Observes which internal topics exist, and which could not be created."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from heliograph.client.net.cluster import ClusterClient
from heliograph.inspection.mirror_plan import InternalTopicPlan
from heliograph.plan.internal_topics import PlacedTopic
from heliograph.plan.replication_factors import TooHighFactor, too_high

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


def factors_too_high(
    placed: Iterable[PlacedTopic], plans: Iterable[InternalTopicPlan], client: Client
) -> tuple[TooHighFactor, ...]:
    """Replication factors with which internal topics that are missing could not be created."""
    missing = {(plan.cluster, plan.topic) for plan in plans if plan.found is None}
    return tuple(
        found
        for each in placed
        if (each.alias, each.topic.name) in missing
        for found in factor_too_high(client(each.alias), each.option, each.topic.replication_factor)
    )


def factor_too_high(cluster: ClusterClient, option: str, factor: int) -> tuple[TooHighFactor, ...]:
    return too_high(cluster.config.alias, option, factor, len(cluster.metadata.nodes))
