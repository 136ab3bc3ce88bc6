"""Creates topics and partitions, lists offsets, reads one setting, and takes a producer id."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heliograph.client.admin.leaders import ask_leaders
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.response_checks import only
from heliograph.errors import BrokerError, ClientError
from heliograph.model import IsolationLevel, ProducerIdentity, TopicPartition
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

EARLIEST = -2
LATEST = -1

_TIMEOUT_MS = 30_000
_TOPIC_RESOURCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


def init_producer_id(cluster: ClusterClient, *, patience: float = 30.0) -> ProducerIdentity:
    """A new producer id, without transactions."""
    backoff, deadline = Backoff(), time.monotonic() + patience
    while True:
        request = messages.InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=0,
            producer_id=-1,
            producer_epoch=-1,
            max_version=5,  # 6 is marked unstable
        )
        response = cluster.call_any(request)
        if not response.error_code:
            return ProducerIdentity(response.producer_id, response.producer_epoch)
        error = messages.broker_error(response.error_code, "InitProducerId")
        if not error.retriable or time.monotonic() > deadline:
            raise error
        time.sleep(backoff.next())


def create_topics(
    cluster: ClusterClient, topics: Iterable[NewTopic], *, validate_only: bool = False
) -> dict[str, BrokerError]:
    """Create topics; returns those that failed. One that exists already counts as created. With
    `validate_only` the brokers check rights, replicas and policies, and create nothing."""
    entry = messages.CreateTopicsRequest.CreatableTopic
    config = entry.CreatableTopicConfig
    request = messages.CreateTopicsRequest(
        topics=[
            entry(
                name=topic.name,
                num_partitions=topic.partitions,
                replication_factor=topic.replication_factor,
                assignments=[],
                configs=[config(name=k, value=v) for k, v in topic.configs.items()],
            )
            for topic in topics
        ],
        timeout_ms=_TIMEOUT_MS,
        validate_only=validate_only,
    )
    return _failures(
        cluster, cluster.call_controller(request).topics, harmless=ErrorCode.TOPIC_ALREADY_EXISTS
    )


def delete_topic(cluster: ClusterClient, name: str) -> None:
    """Raises BrokerError. By name: version 6 may also delete by id."""
    request = messages.DeleteTopicsRequest(
        topic_names=[name], timeout_ms=_TIMEOUT_MS, max_version=5
    )
    answer = only(cluster.call_controller(request).responses, f"topic {name!r}")
    if answer.error_code:
        subject = f"topic {name!r} on {cluster.config.alias}"
        raise messages.broker_error(answer.error_code, subject)


def create_partitions(cluster: ClusterClient, counts: Mapping[str, int]) -> dict[str, BrokerError]:
    """Grow topics to the given partition counts; returns those that failed."""
    entry = messages.CreatePartitionsRequest.CreatePartitionsTopic
    request = messages.CreatePartitionsRequest(
        topics=[entry(name=name, count=count, assignments=None) for name, count in counts.items()],
        timeout_ms=_TIMEOUT_MS,
        validate_only=False,
    )
    return _failures(
        cluster, cluster.call_controller(request).results, harmless=ErrorCode.INVALID_PARTITIONS
    )


def _failures(
    cluster: ClusterClient, answers: Iterable[Any], *, harmless: int
) -> dict[str, BrokerError]:
    return {
        answer.name: messages.broker_error(
            answer.error_code,
            f"topic {answer.name!r} on {cluster.config.alias}",
            answer.error_message,
        )
        for answer in answers
        if answer.error_code not in (0, harmless)
    }


def list_offsets(
    cluster: ClusterClient,
    partitions: Iterable[TopicPartition],
    timestamp: int,
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    *,
    patience: float = 30.0,
) -> dict[TopicPartition, int]:
    """Offsets by timestamp (`EARLIEST`, `LATEST`), from each partition's leader.

    Under read_committed LATEST is the last stable offset. Waits up to `patience` seconds for leaders that
    move or start.
    """
    missing, found = set(partitions), dict[TopicPartition, int]()
    backoff, deadline = Backoff(), time.monotonic() + patience
    while missing:
        answers, failed = available_offsets(cluster, missing, timestamp, isolation_level)
        found |= answers
        missing -= answers.keys()
        for error in list(failed.values())[-1:]:
            if not error.retriable or time.monotonic() > deadline:
                raise error
            time.sleep(backoff.next())
    return found


def available_offsets(
    cluster: ClusterClient,
    partitions: Iterable[TopicPartition],
    timestamp: int,
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, ClientError]]:
    """As `list_offsets`, without waiting; and the errors of partitions whose leader does not answer."""
    wanted = list(partitions)
    cluster.refresh({partition.topic for partition in wanted})
    return ask_leaders(
        cluster,
        wanted,
        lambda leader, led: _ask_offsets(cluster, leader, led, timestamp, isolation_level),
    )


def _ask_offsets(
    cluster: ClusterClient,
    leader: int,
    partitions: list[TopicPartition],
    timestamp: int,
    isolation_level: IsolationLevel,
) -> dict[TopicPartition, int | BrokerError]:
    topic_entry = messages.ListOffsetsRequest.ListOffsetsTopic
    entry = topic_entry.ListOffsetsPartition
    by_topic: dict[str, list[int]] = {}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    request = messages.ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level.wire,
        topics=[
            topic_entry(
                name=topic,
                partitions=[
                    entry(partition_index=p, current_leader_epoch=-1, timestamp=timestamp)
                    for p in ps
                ],
            )
            for topic, ps in by_topic.items()
        ],
        max_version=6,
    )
    found: dict[TopicPartition, int | BrokerError] = {}
    for topic in cluster.call(leader, request).topics:
        for answer in topic.partitions:
            key = TopicPartition(topic.name, answer.partition_index)
            subject = f"{cluster.config.alias}: offsets of {key}"
            found[key] = (
                messages.broker_error(answer.error_code, subject)
                if answer.error_code
                else answer.offset
            )
    return found


def topic_config(cluster: ClusterClient, topic: str, key: str) -> str | None:
    """The effective value of one setting of a topic (set on it, on the brokers, or the default)."""
    entry = messages.DescribeConfigsRequest.DescribeConfigsResource
    request = messages.DescribeConfigsRequest(
        resources=[
            entry(resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=[key])
        ]
    )
    about = f"topic {topic!r} on {cluster.config.alias}"
    result = only(cluster.call_any(request).results, about)
    if result.error_code:
        raise messages.broker_error(result.error_code, about, result.error_message)
    return next((config.value for config in result.configs if config.name == key), None)
