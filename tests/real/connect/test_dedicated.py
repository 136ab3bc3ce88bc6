"""The connectors of `heliograph run`: read by anybody, steered where the file allows it."""

from __future__ import annotations

import pytest

from heliograph.connect.dedicated_herder import DedicatedHerder
from heliograph.connect.herder import Forbidden, NotFound
from support.clusters.writing import numbered, write
from support.flows.mirroring import Flow
from support.rest.workers import assert_no_more, await_records
from support.waiting import eventually


def test_connectors_of_a_file_are_shown_and_can_be_paused_one_by_one(flow: Flow) -> None:
    topic = flow.create("orders")
    write(flow.source, topic, numbered(range(10)))
    source, checkpoint = (f"{flow.name}.Mirror{kind}Connector" for kind in ("Source", "Checkpoint"))
    with flow.running() as running:
        given = (running.mirror, running.progress, {source: {"topics": "x"}})
        herder = DedicatedHerder(*given, worker_id="here:8083", writable=True)
        assert herder.connectors() == [source, checkpoint]
        assert herder.config(source) == {"topics": "x"}
        await_records(flow, flow.remote(topic), 10)
        eventually(
            lambda: herder.status(source),
            lambda s: [s.connector.state, *(t.state for t in s.tasks.values())] == ["RUNNING"] * 2,
        )
        (task,) = herder.task_configs(source).values()
        assert task["task.assigned.partitions"] == f"{topic}-0"
        eventually(lambda: herder.active_topics(source), lambda t: t == [flow.remote(topic)])

        herder.pause(source)
        eventually(lambda: herder.status(source).connector.state, lambda s: s == "PAUSED")
        write(flow.source, topic, numbered(range(10, 20)))
        assert_no_more(flow, flow.remote(topic), 10)
        assert herder.status(checkpoint).connector.state == "RUNNING"
        herder.resume(source)
        await_records(flow, flow.remote(topic), 20)

        reader = DedicatedHerder(*given, worker_id="here:8083", writable=False)
        with pytest.raises(Forbidden, match=r"rest\.writable"):
            reader.pause(source)
        with pytest.raises(Forbidden, match="come from its configuration file"):
            herder.delete(source)
        with pytest.raises(NotFound):
            herder.pause("nobody")
    flow.assert_mirrored(topic)
