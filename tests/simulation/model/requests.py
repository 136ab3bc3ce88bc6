"""Answers to message objects, as our client sends them (`KafkaApis`).

The answers have the fields of kafka-python's responses that are read.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from heliograph.model import ProducerIdentity, TopicPartition
from simulation.model.cluster import Cluster
from simulation.model.errors import Error
from simulation.model.log_requests import LOG_REQUESTS
from simulation.model.transaction_coordinator import NO_IDENTITY

_FEATURE = "transaction.version"
#: The first versions that know PRODUCER_FENCED, and that of EndTxn which bumps the epoch.
_FENCED_INIT, _FENCED_ADD, _FENCED_END, _BUMPING_END = 4, 2, 2, 5


def answer(cluster: Cluster, node: int, request: Any) -> Any:
    """Of one broker. KeyError for a request that the model does not know."""
    handler = _HANDLERS[request.name]
    response = handler(cluster, node, request)
    cluster.end_of_request()
    return response


def version_of(request: Any) -> int:
    """That it is or would be sent in, to a broker of today."""
    for version in (request.API_VERSION, request._max_version):
        if version is not None:
            return int(version)
    return int(request.max_version)


def _api_versions(cluster: Cluster, node: int, request: Any) -> Any:
    feature = SimpleNamespace(name=_FEATURE, max_version_level=cluster.coordinator.version)
    return SimpleNamespace(error_code=0, api_keys=[], finalized_features=[feature])


def _metadata(cluster: Cluster, node: int, request: Any) -> Any:
    names = cluster.topics if request.topics is None else [each.name for each in request.topics]
    return SimpleNamespace(
        brokers=[SimpleNamespace(node_id=n, host="simulated", port=n) for n in cluster.nodes],
        cluster_id="simulated",
        controller_id=1,
        topics=[_topic(cluster, name) for name in names],
    )


def _topic(cluster: Cluster, name: str) -> Any:
    topic = cluster.topics.get(name)
    if topic is None:
        error = int(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return SimpleNamespace(
            error_code=error, name=name, topic_id=None, is_internal=False, partitions=[]
        )
    partitions = [
        SimpleNamespace(
            error_code=0,
            partition_index=index,
            leader_id=cluster.leaders[TopicPartition(name, index)],
            leader_epoch=log.leader_epoch,
        )
        for index, log in enumerate(topic.logs)
    ]
    return SimpleNamespace(
        error_code=0, name=name, topic_id=topic.id, is_internal=False, partitions=partitions
    )


def _describe_configs(cluster: Cluster, node: int, request: Any) -> Any:
    results = []
    for resource in request.resources:
        topic = cluster.topics.get(resource.resource_name)
        missing = int(Error.UNKNOWN_TOPIC_OR_PARTITION)
        configs = {} if topic is None else {"max.message.bytes": "1048588"} | topic.configs
        results.append(
            SimpleNamespace(
                error_code=missing if topic is None else 0,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[SimpleNamespace(name=k, value=v) for k, v in configs.items()],
            )
        )
    return SimpleNamespace(results=results)


# ── transactions ─────────────────────────────────────────────────────────────────────────────


def _find_coordinator(cluster: Cluster, node: int, request: Any) -> Any:
    found = {
        "node_id": cluster.coordinator_node,
        "host": "simulated",
        "port": cluster.coordinator_node,
        "error_code": 0,
        "error_message": None,
    }
    each = [SimpleNamespace(key=key, **found) for key in request.coordinator_keys or ()]
    return SimpleNamespace(**found, coordinators=each)


def _init_producer_id(cluster: Cluster, node: int, request: Any) -> Any:
    error, identity = Error.NOT_COORDINATOR, NO_IDENTITY
    if request.transactional_id is None or node == cluster.coordinator_node:
        error, identity = cluster.coordinator.init_producer_id(
            request.transactional_id,
            request.transaction_timeout_ms,
            ProducerIdentity(request.producer_id, request.producer_epoch),
        )
    return SimpleNamespace(
        error_code=_fenced(error, version_of(request) >= _FENCED_INIT),
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
    )


def _add_partitions(cluster: Cluster, node: int, request: Any) -> Any:
    """Version 3 and below. One partition that is missing, and none is added."""
    wanted = [
        TopicPartition(topic.name, index)
        for topic in request.v3_and_below_topics
        for index in topic.partitions
    ]
    missing = [partition for partition in wanted if cluster.log(partition) is None]
    if missing:
        errors = dict.fromkeys(wanted, int(Error.OPERATION_NOT_ATTEMPTED))
        errors |= dict.fromkeys(missing, int(Error.UNKNOWN_TOPIC_OR_PARTITION))
    else:
        error = Error.NOT_COORDINATOR
        if node == cluster.coordinator_node:
            producer = ProducerIdentity(
                request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
            )
            error = cluster.coordinator.add_partitions(
                request.v3_and_below_transactional_id, producer, wanted
            )
        code = _fenced(error, version_of(request) >= _FENCED_ADD)
        errors = dict.fromkeys(wanted, code)
    return SimpleNamespace(
        results_by_topic_v3_and_below=[
            SimpleNamespace(
                name=topic.name,
                results_by_partition=[
                    SimpleNamespace(
                        partition_index=index,
                        partition_error_code=errors[TopicPartition(topic.name, index)],
                    )
                    for index in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
    )


def _end_txn(cluster: Cluster, node: int, request: Any) -> Any:
    error, identity = Error.NOT_COORDINATOR, NO_IDENTITY
    version = version_of(request)
    if node == cluster.coordinator_node:
        error, identity = cluster.coordinator.end(
            request.transactional_id,
            ProducerIdentity(request.producer_id, request.producer_epoch),
            commit=request.committed,
            version=2 if version >= _BUMPING_END else 1,
        )
    return SimpleNamespace(
        error_code=_fenced(error, version >= _FENCED_END),
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
    )


def _describe_transactions(cluster: Cluster, node: int, request: Any) -> Any:
    states = []
    for transactional_id in request.transactional_ids:
        found = cluster.coordinator.transactions.get(transactional_id)
        missing = int(Error.TRANSACTIONAL_ID_NOT_FOUND)
        states.append(
            SimpleNamespace(
                error_code=missing if found is None else 0,
                transactional_id=transactional_id,
                transaction_state="" if found is None else found.state.value,
                producer_id=-1 if found is None else found.producer_id,
                producer_epoch=-1 if found is None else found.epoch,
            )
        )
    return SimpleNamespace(transaction_states=states)


def _list_transactions(cluster: Cluster, node: int, request: Any) -> Any:
    states = [
        SimpleNamespace(
            transactional_id=each.transactional_id,
            producer_id=each.producer_id,
            transaction_state=each.state.value,
        )
        for each in cluster.coordinator.transactions.values()
        if node == cluster.coordinator_node
    ]
    return SimpleNamespace(error_code=0, unknown_state_filters=[], transaction_states=states)


def _fenced(error: Error, known: bool) -> int:
    """Older versions of a request say INVALID_PRODUCER_EPOCH for PRODUCER_FENCED."""
    return int(
        Error.INVALID_PRODUCER_EPOCH if error is Error.PRODUCER_FENCED and not known else error
    )


_HANDLERS: dict[str, Callable[[Cluster, int, Any], Any]] = {
    "ApiVersionsRequest": _api_versions,
    "MetadataRequest": _metadata,
    "DescribeConfigsRequest": _describe_configs,
    "FindCoordinatorRequest": _find_coordinator,
    "InitProducerIdRequest": _init_producer_id,
    "AddPartitionsToTxnRequest": _add_partitions,
    "EndTxnRequest": _end_txn,
    "DescribeTransactionsRequest": _describe_transactions,
    "ListTransactionsRequest": _list_transactions,
    **LOG_REQUESTS,
}
