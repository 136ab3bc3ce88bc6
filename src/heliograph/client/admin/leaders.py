"""Asks the leaders of partitions: one request to each broker that leads any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ClientError, MalformedResponse
from heliograph.model import TopicPartition
from heliograph.wire import messages

T = TypeVar("T")

#: Asks one leader for some of its partitions: the answer for each, or its error.
Ask = Callable[[int, list[TopicPartition]], Mapping[TopicPartition, T | BrokerError]]


def ask_leaders(
    cluster: ClusterClient, partitions: Iterable[TopicPartition], ask: Ask[T]
) -> tuple[dict[TopicPartition, T], dict[TopicPartition, ClientError]]:
    """The answers, and the errors of partitions without one. Does not wait for a leader.

    Leaders are those of the cluster's metadata; refresh these before, if they may be out of date.
    """
    led, failed = _by_leader(cluster, partitions)
    found: dict[TopicPartition, T] = {}
    for leader, its in led.items():
        try:
            answers = ask(leader, its)
        except ClientError as e:
            failed |= dict.fromkeys(its, e)
            continue
        for partition in its:
            answer = answers.get(partition)
            if answer is None:
                failed[partition] = _unanswered(cluster, leader, partition)
            elif isinstance(answer, BrokerError):
                failed[partition] = answer
            else:
                found[partition] = answer
    return found, failed


def _by_leader(
    cluster: ClusterClient, partitions: Iterable[TopicPartition]
) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, ClientError]]:
    metadata = cluster.metadata
    led: dict[int, list[TopicPartition]] = {}
    leaderless: dict[TopicPartition, ClientError] = {}
    for partition in partitions:
        leader = metadata.leaders.get(partition)
        if leader is None:
            subject = f"{cluster.config.alias}: {partition}"
            code = metadata.why_leaderless(partition)
            leaderless[partition] = messages.broker_error(code, subject)
        else:
            led.setdefault(leader, []).append(partition)
    return led, leaderless


def _unanswered(cluster: ClusterClient, leader: int, partition: TopicPartition) -> ClientError:
    return MalformedResponse(
        f"{cluster.config.alias}: {partition}: the answer of broker {leader} leaves it out"
    )
