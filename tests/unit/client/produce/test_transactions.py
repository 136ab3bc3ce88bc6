from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.errors import BrokerError, ConnectionLost, Fenced
from heliograph.model import ProducerIdentity, TopicPartition
from support.brokers.scripted import ScriptedCluster, reply
from support.waiting import PATIENCE_SECONDS

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
    found = Coordinator(cluster, ID, timeout_ms=60_000, patience=PATIENCE_SECONDS)  # type: ignore[arg-type]
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


def transaction(version: int, answers: Mapping[str, Any]) -> tuple[Transaction, ScriptedCluster]:
    """One whose coordinator answers so."""
    cluster = ScriptedCluster({"FindCoordinatorRequest": coordinators(1), **answers})
    found = Transaction(
        Coordinator(cluster, ID, timeout_ms=60_000, patience=0.0),  # type: ignore[arg-type]
        ME,
    )
    found.version = version
    return found, cluster


def asked(cluster: ScriptedCluster) -> list[str]:
    return [request.name for _, request in cluster.asked]


def refused(code: int) -> Any:
    return lambda _: reply(error_code=code)


def given(identity: ProducerIdentity) -> Any:
    return lambda _: reply(
        error_code=0, producer_id=identity.producer_id, producer_epoch=identity.epoch
    )


def test_a_transaction_of_version_2_is_open_once_a_produce_request_is_sent() -> None:
    found, cluster = transaction(2, {})

    assert found.join(ORDERS) == {}
    assert found.opened is None
    found.sending(ORDERS[:1])

    assert found.opened is not None
    assert found.partitions == {ORDERS[0]}
    assert asked(cluster) == []


@pytest.mark.parametrize("end", [Transaction.commit, Transaction.abort])
@pytest.mark.parametrize("version", [1, 2])
def test_what_has_sent_nothing_is_not_ended(
    version: int, end: Callable[[Transaction], None]
) -> None:
    """A coordinator that knows of no transaction answers INVALID_TXN_STATE."""
    found, cluster = transaction(version, {})
    found.join(ORDERS if version == 2 else [])

    end(found)

    assert found.identity == ME
    assert asked(cluster) == []


def test_a_commit_is_followed_by_the_epoch_that_it_was_answered_with() -> None:
    next_one = ProducerIdentity(7, 4)
    found, cluster = transaction(2, {"EndTxnRequest": given(next_one)})
    found.sending(ORDERS)

    found.commit()

    assert (found.identity, found.opened, found.partitions) == (next_one, None, set())
    assert asked(cluster) == ["FindCoordinatorRequest", "EndTxnRequest"]


def test_an_abort_of_what_has_not_arrived_takes_a_new_epoch() -> None:
    """A produce request was sent, and its answer lost: what is still under way must find its epoch fenced."""
    next_one = ProducerIdentity(7, 4)
    answers = {"EndTxnRequest": refused(48), "InitProducerIdRequest": given(next_one)}
    found, cluster = transaction(2, answers)
    found.sending(ORDERS)

    found.abort()

    assert (found.identity, found.opened) == (next_one, None)
    assert asked(cluster)[1:] == ["EndTxnRequest", "InitProducerIdRequest"]


def test_what_a_coordinator_may_have_committed_is_not_taken_for_aborted() -> None:
    """TRANSACTION_ABORTABLE to the commit, INVALID_TXN_STATE to the abort"""
    codes = [120, 48]
    found, _ = transaction(2, {"EndTxnRequest": lambda _: reply(error_code=codes.pop(0))})
    found.sending(ORDERS)

    with pytest.raises(BrokerError, match="120"):
        found.commit()
    with pytest.raises(BrokerError, match="48"):
        found.abort()

    assert found.opened is not None


@pytest.mark.parametrize("code", [0, 48])
def test_version_1_aborts_also_what_it_was_not_answered_to(code: int) -> None:
    """AddPartitionsToTxn may have been carried out, or not."""
    next_one = ProducerIdentity(7, 4)

    def lost(_: Any) -> Any:
        raise ConnectionLost("b:9092: no answer")

    answers = {
        "AddPartitionsToTxnRequest": lost,
        "EndTxnRequest": refused(code),
        "InitProducerIdRequest": given(next_one),
    }
    found, cluster = transaction(1, answers)
    with pytest.raises(ConnectionLost):
        found.join(ORDERS)

    found.abort()

    assert (found.identity, found.opened) == (next_one, None)
    assert asked(cluster)[-2:] == ["EndTxnRequest", "InitProducerIdRequest"]


def test_the_end_takes_an_offset_where_partitions_were_added_or_written_to() -> None:
    first, _ = transaction(1, {"AddPartitionsToTxnRequest": lambda _: added({})})
    second, _ = transaction(2, {})
    for found in (first, second):
        found.join(ORDERS[:2])
        found.sending(ORDERS[:1])

    assert first.partitions == set(ORDERS[:2])
    assert second.partitions == set(ORDERS[:1])
