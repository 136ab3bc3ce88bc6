"""Each leader is asked once, for all of its partitions, and every partition has an answer or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from heliograph.client.admin.leaders import ask_leaders
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.errors import BrokerError, ConnectionLost
from heliograph.model import TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error
from support.brokers.scripted import ScriptedCluster

A, B, C, D = (TopicPartition("orders", number) for number in range(4))
LEADERS = Metadata(leaders={A: 1, B: 2, C: 1})


def ask(answers: Mapping[int, Any]) -> tuple[dict[TopicPartition, int], dict[TopicPartition, str]]:
    cluster = ScriptedCluster({})
    cluster.metadata = replace(cluster.metadata, leaders=LEADERS.leaders)

    def asked(leader: int, its: list[TopicPartition]) -> Mapping[TopicPartition, int | BrokerError]:
        answer = answers[leader]
        if isinstance(answer, Exception):
            raise answer
        return {partition: each for partition, each in answer.items() if partition in its}

    found, failed = ask_leaders(cast(ClusterClient, cluster), [A, B, C, D], asked)
    return found, {partition: str(error) for partition, error in failed.items()}


def test_a_partition_without_a_leader_has_the_error_for_that() -> None:
    found, failed = ask({1: {A: 5, C: 0}, 2: {B: 7}})

    assert found == {A: 5, B: 7, C: 0}
    assert failed.keys() == {D}
    assert "orders-3: LEADER_NOT_AVAILABLE" in failed[D]


def test_a_leader_that_does_not_answer_fails_its_partitions_alone() -> None:
    found, failed = ask({1: ConnectionLost("broker 1 is gone"), 2: {B: 7}})

    assert found == {B: 7}
    assert failed[A] == failed[C] == "broker 1 is gone"


def test_a_partition_has_its_own_error_and_one_that_is_left_out_has_one_too() -> None:
    refused = broker_error(ErrorCode.NOT_LEADER_OR_FOLLOWER, "orders-0")

    found, failed = ask({1: {A: refused}, 2: {B: 7}})

    assert found == {B: 7}
    assert failed[A] == str(refused)
    assert failed[C] == "scripted: orders-2: the answer of broker 1 leaves it out"
