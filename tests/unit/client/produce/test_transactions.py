from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.errors import BrokerError, Fenced
from heliograph.model import ProducerIdentity, TopicPartition
from support.brokers.scripted import ScriptedCluster, reply

ID = "a-mm2-MirrorSourceConnector-0"
ME = ProducerIdentity(7, 3)
ORDERS = [TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("gone", 0)]


def coordinators(*nodes: int) -> Any:
    """FindCoordinator's answers, one after the other."""
    left = list(nodes)

    def answer(_: Any) -> Any:
        node = left.pop(0) if len(left) > 1 else left[0]
        found = SimpleNamespace(key=ID, node_id=node, error_code=0, error_message=None)
        return reply(coordinators=[found])

    return answer


def coordinator(*codes: int, name: str, nodes: Sequence[int] = (1,), **fields: Any) -> Coordinator:
    """One that answers a request with these error codes in turn."""
    left = list(codes)

    def answer(_: Any) -> Any:
        return reply(error_code=left.pop(0), **fields)

    cluster = ScriptedCluster(
        {"FindCoordinatorRequest": coordinators(*nodes), name: answer}, nodes=(1, 2)
    )
    found = Coordinator(cluster, ID, timeout_ms=60_000, patience=5.0)  # type: ignore[arg-type]
    found.asked = cluster.asked  # type: ignore[attr-defined]
    return found


def test_what_passes_is_waited_for() -> None:
    """COORDINATOR_LOAD_IN_PROGRESS, CONCURRENT_TRANSACTIONS"""
    found = coordinator(14, 51, 0, name="InitProducerIdRequest", producer_id=7, producer_epoch=3)

    assert found.init() == ME


def test_a_coordinator_that_has_moved_is_looked_for() -> None:
    """NOT_COORDINATOR"""
    found = coordinator(16, 0, name="EndTxnRequest", nodes=(1, 2), producer_id=7, producer_epoch=4)

    assert found.end(ME, commit=True, version=2) == ProducerIdentity(7, 4)
    asked = found.asked  # type: ignore[attr-defined]
    assert [node for node, request in asked if request.name == "EndTxnRequest"] == [1, 2]


@pytest.mark.parametrize("code", [47, 49, 90])
def test_fencing_is_final(code: int) -> None:
    """INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED"""
    found = coordinator(code, name="EndTxnRequest")

    with pytest.raises(Fenced, match="fenced: another service has taken over"):
        found.end(ME, commit=True, version=1)


def test_what_will_not_pass_is_told_at_once() -> None:
    """TRANSACTIONAL_ID_AUTHORIZATION_FAILED"""
    found = coordinator(53, name="InitProducerIdRequest")

    with pytest.raises(BrokerError, match=f"{ID}: InitProducerId"):
        found.init()


def test_an_epoch_is_the_same_after_a_transaction_of_version_1_and_another_after_one_of_version_2() -> (
    None
):
    assert coordinator(0, name="EndTxnRequest").end(ME, commit=True, version=1) == ME
    bumped = coordinator(0, name="EndTxnRequest", producer_id=8, producer_epoch=0)
    assert bumped.end(ME, commit=True, version=2) == ProducerIdentity(8, 0)


def added(codes: dict[TopicPartition, int]) -> Any:
    by_topic: dict[str, list[Any]] = {}
    for (topic, number), code in codes.items():
        by_topic.setdefault(topic, []).append(
            SimpleNamespace(partition_index=number, partition_error_code=code)
        )
    return reply(
        results_by_topic_v3_and_below=[
            SimpleNamespace(name=topic, results_by_partition=results)
            for topic, results in by_topic.items()
        ]
    )


def test_a_partition_that_cannot_be_added_keeps_none_of_the_others_out() -> None:
    """OPERATION_NOT_ATTEMPTED for all but the one that is unknown"""
    answers = [
        added({ORDERS[0]: 51, ORDERS[1]: 51, ORDERS[2]: 51}),
        added({ORDERS[0]: 55, ORDERS[1]: 55, ORDERS[2]: 3}),
        added({ORDERS[0]: 0, ORDERS[1]: 0}),
    ]
    cluster = ScriptedCluster(
        {
            "FindCoordinatorRequest": coordinators(1),
            "AddPartitionsToTxnRequest": lambda _: answers.pop(0),
        }
    )
    transaction = Transaction(
        Coordinator(cluster, ID, timeout_ms=60_000),  # type: ignore[arg-type]
        ME,
    )
    transaction.version = 1

    failed = transaction.join(ORDERS)

    assert {partition: error.code for partition, error in failed.items()} == {ORDERS[2]: 3}
    assert transaction.partitions == set(ORDERS[:2])
    assert transaction.join(ORDERS[:2]) == {}
    assert answers == []


def test_a_transaction_of_version_2_begins_without_a_word() -> None:
    cluster = ScriptedCluster({})
    transaction = Transaction(
        Coordinator(cluster, ID, timeout_ms=60_000),  # type: ignore[arg-type]
        ME,
    )
    transaction.version = 2

    assert transaction.join(ORDERS) == {}
    assert transaction.opened is not None
    assert cluster.asked == []


def test_ending_what_has_not_begun_takes_no_word() -> None:
    cluster = ScriptedCluster({})
    transaction = Transaction(
        Coordinator(cluster, ID, timeout_ms=60_000),  # type: ignore[arg-type]
        ME,
    )
    transaction.version = 2

    transaction.commit()

    assert transaction.identity == ME
    assert cluster.asked == []


@pytest.mark.parametrize(("version", "marked"), [(1, set(ORDERS[:2])), (2, {ORDERS[0]})])
def test_only_version_1_leaves_a_marker_where_nothing_was_written(
    version: int, marked: set[TopicPartition]
) -> None:
    transaction = Transaction(coordinator(name="EndTxnRequest"), ME)
    transaction.version = version
    transaction.partitions = set(ORDERS[:2])

    assert transaction.marked([ORDERS[0]]) == marked
