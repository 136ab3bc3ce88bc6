"""Leases on their way through Spark."""

from __future__ import annotations

from heliograph.model import (
    LeaderEpochMark,
    Lease,
    Lineage,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
)
from heliograph.spark.assignments import (
    ENDED,
    ENDED_DDL,
    TaskAssignment,
    read_assignment,
    write_assignment,
    write_ended,
)
from heliograph.spark.sealing import new_key

SNAPSHOT = ProducerSnapshot(5, 17, 12, ProducerIdentity(4000, 0), (-1, 3))


def test_leases_are_the_same_behind_spark() -> None:
    lease = Lease(
        flow="a->b", topic="t", partition=0, target_topic="a.t", start=5, snapshot=SNAPSHOT
    )
    other = Lease(
        flow="a->b",
        topic="t",
        partition=1,
        target_topic="a.t",
        start=0,
        end=9,
        lineage=Lineage(TopicIdPair("MQ", None), LeaderEpochMark(7, 2), 4),
    )
    assignment = TaskAssignment(epoch=3, task=1, leases=(lease, other), running=("a->b", "b->a"))

    key = new_key()

    assert read_assignment(write_assignment(assignment, key), key) == assignment


def test_what_spark_returns_of_a_task_is_that_it_has_ended() -> None:
    assignment = TaskAssignment(epoch=3, task=1, leases=())

    assert write_ended(assignment).to_pylist() == [{"epoch": 3, "task": 1}]
    assert [column.split()[0] for column in ENDED_DDL.split(", ")] == ENDED.names
