from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from heliograph.model import Lease, ProducerIdentity
from heliograph.runtime.epoch.fencing import task_producers


def lease(flow: str, partition: int) -> Lease:
    return Lease(flow=flow, topic="t", partition=partition, target_topic="a.t", start=0)


def test_each_task_gets_an_identity_for_each_of_its_flows_that_mirrors_exactly_once() -> None:
    asked: list[list[int]] = []

    def identities(tasks: list[int]) -> dict[int, ProducerIdentity]:
        asked.append(tasks)
        return {task: ProducerIdentity(task, 0) for task in tasks}

    fencing: Any = SimpleNamespace(identities=identities)
    tasks = [[lease("a->b", 0), lease("a->c", 0)], [lease("a->c", 1)], [], [lease("a->b", 2)]]

    found = task_producers(tasks, [("a->b", fencing), ("a->c", None), ("c->d", fencing)])

    assert found == [{"a->b": ProducerIdentity(0, 0)}, {}, {}, {"a->b": ProducerIdentity(3, 0)}]
    assert asked == [[0, 3]]
