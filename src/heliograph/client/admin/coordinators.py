"""Finds the coordinators of groups, and asks each for all of its groups in few round trips.

Groups whose coordinator moves, or is still loading its groups, are asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ClientError, MalformedResponse
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

#: The first request for a group ever makes brokers create __consumer_offsets, which takes seconds.
MOVING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

_GROUP_KEY = 0
#: KIP-699: before this version of FindCoordinator a request names one group only.
_BATCHED_VERSION = 4

#: Asks one coordinator for some of its groups: the error of each, or None.
Ask = Callable[[int, list[str]], Mapping[str, BrokerError | None]]


def ask_coordinators(
    cluster: ClusterClient, groups: Iterable[str], ask: Ask, *, patience: float
) -> dict[str, BrokerError]:
    """Call `ask` for every coordinator with its groups; returns the groups that failed.

    Raises ClientError if a coordinator cannot be reached for `patience` seconds.
    """
    left, failed = set(groups), dict[str, BrokerError]()
    backoff, deadline = Backoff(most=1.0), time.monotonic() + patience
    while left:
        answers, lost = _round(cluster, sorted(left), ask)
        late = time.monotonic() > deadline
        for group in left & answers.keys():
            error = answers[group]
            if error is None or late or error.code not in MOVING:
                left.discard(group)
            if group not in left and error is not None:
                failed[group] = error
        if lost is not None and (late or not lost.retriable):
            raise lost
        if late and left:
            raise MalformedResponse(
                f"{cluster.config.alias}: group {min(left)!r}: no response named it within {patience:g} s"
            )
        if left:
            time.sleep(backoff.next())
    return failed


def find_coordinator(cluster: ClusterClient, group: str) -> int:
    """The node id of a group's coordinator. Raises ClientError."""
    nodes, errors = _find(cluster, [group])
    for error in errors.values():
        if error is not None:
            raise error
    if group not in nodes:
        raise MalformedResponse(
            f"{cluster.config.alias}: the response does not name the coordinator of group {group!r}"
        )
    return nodes[group]


def _round(
    cluster: ClusterClient, groups: list[str], ask: Ask
) -> tuple[dict[str, BrokerError | None], ClientError | None]:
    coordinators, answers = _find(cluster, groups)
    lost: ClientError | None = None
    if not cluster.metadata.nodes.keys() >= set(coordinators.values()):
        cluster.refresh([])
    by_node: dict[int, list[str]] = {}
    for group, node in coordinators.items():
        by_node.setdefault(node, []).append(group)
    for node, its in by_node.items():
        try:
            answers |= ask(node, its)
        except ClientError as e:
            lost = e
    return answers, lost


def _find(
    cluster: ClusterClient, groups: list[str]
) -> tuple[dict[str, int], dict[str, BrokerError | None]]:
    """The coordinators' node ids, and the errors of groups that have none."""
    request = _request(groups)
    response = cluster.call_any(request)
    if request.API_VERSION >= _BATCHED_VERSION:
        wanted = set(groups)
        answers = [(c.key, c) for c in response.coordinators if c.key in wanted]
    else:
        rest = [(group, cluster.call_any(_request([group]))) for group in groups[1:]]
        answers = [(groups[0], response), *rest]
    nodes = {group: answer.node_id for group, answer in answers if not answer.error_code}
    errors: dict[str, BrokerError | None] = {
        group: messages.broker_error(
            answer.error_code,
            f"{cluster.config.alias}: coordinator of group {group!r}",
            answer.error_message,
        )
        for group, answer in answers
        if answer.error_code
    }
    return nodes, errors


def _request(groups: list[str]) -> messages.FindCoordinatorRequest:
    return messages.FindCoordinatorRequest(
        key=groups[0], key_type=_GROUP_KEY, coordinator_keys=groups, max_version=5
    )
