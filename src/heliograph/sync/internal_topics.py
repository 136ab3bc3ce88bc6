"""Creates missing internal topics, and checks the settings of existing ones.

As `MirrorUtils.createCompactedTopic`: without permission to create topics, existing ones are used.
"""

from __future__ import annotations

import logging
import time
from functools import cache

from heliograph.client.admin.topics import NewTopic, create_topics, topic_config
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import InternalTopic
from heliograph.counted import counted
from heliograph.errors import BrokerError, UnsupportedBroker
from heliograph.plan.internal_topics import PlacedTopic
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error

log = logging.getLogger(__name__)

#: The topic must be created by other means then, and may exist although we cannot describe it.
_NOT_ALLOWED = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.POLICY_VIOLATION,
    }
)
_PATIENCE_SECONDS = 10.0


def ensure_internal_topic(cluster: ClusterClient, placed: PlacedTopic) -> str | None:
    """Make the topic usable on its cluster; returns the problem if that is not possible, else None.

    Raises ClientError if the cluster cannot be reached or is not ready; a retry may help then.
    """
    topic = placed.topic
    if not _is_there(cluster, topic):
        problem = _create(cluster, topic, placed.option)
        if problem is not None:
            return problem
    _check_settings(cluster, topic)
    return None


def _create(cluster: ClusterClient, topic: InternalTopic, option: str) -> str | None:
    try:
        errors = create_topics(cluster, [_new(topic)])
    except UnsupportedBroker as e:
        return _not_allowed(cluster, topic, str(e))
    for error in errors.values():
        if error.code in _NOT_ALLOWED:
            there = _is_there(cluster, topic)
            return None if there else _not_allowed(cluster, topic, str(error))
        if error.retriable:
            raise error
        return f"{error}; {_remedy(error, topic, option)}"
    backoff, deadline = Backoff(), time.monotonic() + _PATIENCE_SECONDS
    while not _is_there(cluster, topic):  # brokers know it a moment after their controller
        if time.monotonic() > deadline:
            subject = f"{cluster.config.alias}: {topic.name}, which was just created"
            raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, subject)
        time.sleep(backoff.next())
    log.info("%s: created %s", cluster.config.alias, topic.name)
    return None


def _new(topic: InternalTopic) -> NewTopic:
    return NewTopic(
        name=topic.name,
        partitions=topic.partitions,
        replication_factor=topic.replication_factor,
        configs={"cleanup.policy": "compact", **dict(topic.configs)},
    )


def _is_there(cluster: ClusterClient, topic: InternalTopic) -> bool:
    return topic.name in cluster.refresh([topic.name]).partitions


def _check_settings(cluster: ClusterClient, topic: InternalTopic) -> None:
    alias, found = cluster.config.alias, cluster.metadata.partitions[topic.name]
    if topic.partitions == 1 and found > 1:
        _warn_once(
            f"{alias}: {topic.name} has {counted(found, 'partition')}; only partition 0 is used"
        )
    policy = _cleanup_policy(cluster, topic.name)
    if policy is not None and "compact" not in policy:
        _warn_once(
            f"{alias}: {topic.name} has cleanup.policy={policy}, expected compact: old records will be "
            f"deleted; set cleanup.policy=compact on it"
        )


def _cleanup_policy(cluster: ClusterClient, topic: str) -> str | None:
    try:
        return topic_config(cluster, topic, "cleanup.policy")
    except BrokerError as e:  # MM2 does not need the DESCRIBE_CONFIGS permission here
        log.debug("%s: cannot read cleanup.policy: %s", topic, e)
        return None


def _not_allowed(cluster: ClusterClient, topic: InternalTopic, why: str) -> str:
    return (
        f"{cluster.config.alias}: {topic.name} does not exist and cannot be created ({why}); create it with "
        f"{counted(topic.partitions, 'partition')} and cleanup.policy=compact, or grant CREATE on it"
    )


def _remedy(error: BrokerError, topic: InternalTopic, option: str) -> str:
    if error.code == ErrorCode.INVALID_REPLICATION_FACTOR:
        return (
            f"set {option} (now {topic.replication_factor}) to what its brokers allow; heliograph plan "
            "prints all such settings as lines to paste"
        )
    return f"create it with {counted(topic.partitions, 'partition')} and cleanup.policy=compact"


@cache
def _warn_once(message: str) -> None:
    log.warning(message)
