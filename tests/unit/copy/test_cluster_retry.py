"""What a cluster that is away, or was not waited for, means to a link's partitions."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.copy.cluster_retry import ClusterRetry
from heliograph.copy.partition import Partition
from heliograph.errors import ClientError, ConnectionLost, Interrupted
from heliograph.model import Lease, PartitionState

CLUSTER: Any = object()


@pytest.fixture
def copy() -> Partition:
    lease = Lease(flow="us->eu", topic="orders", partition=0, target_topic="us.orders", start=50)
    return Partition(lease)


def failing(error: ClientError) -> Any:
    def action() -> None:
        raise error

    return action


def test_a_cluster_that_is_away_is_the_state_of_every_partition(copy: Partition) -> None:
    reach = ClusterRetry("us->eu", [copy])

    reach(CLUSTER, failing(ConnectionLost("b:9092: connection broke")))

    assert (copy.state, copy.error) == (PartitionState.RETRYING, "b:9092: connection broke")
    assert not reach.interrupted


def test_the_end_of_an_epoch_is_the_state_of_none(copy: Partition) -> None:
    reach = ClusterRetry("us->eu", [copy])

    reach(CLUSTER, failing(Interrupted("b:9092: stopped while waiting for an answer")))

    assert (copy.state, copy.error) == (PartitionState.RUNNING, None)
    assert reach.interrupted


def test_a_cluster_is_left_alone_for_a_while_after_either(copy: Partition) -> None:
    for error in (ConnectionLost("broke"), Interrupted("stopped")):
        reach, calls = ClusterRetry("us->eu", [copy]), list[int]()

        reach(CLUSTER, failing(error))
        reach(CLUSTER, lambda calls=calls: calls.append(1))  # type: ignore[misc]

        assert not calls
