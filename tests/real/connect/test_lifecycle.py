"""Connectors of a worker: created, paused, stopped, changed and deleted while records flow."""

from __future__ import annotations

import json

import pytest

from heliograph.connect.herder import AlreadyExists, BadRequest, NotFound, OffsetEntry, TaskId
from support.clusters.reading import read_all
from support.clusters.writing import numbered, write
from support.commands import heliograph_here
from support.flows.mirroring import Flow
from support.rest.workers import (
    Worker,
    assert_no_more,
    await_records,
    connector,
    worker,
    worker_properties,
)
from support.waiting import eventually


def entry(flow: Flow, topic: str, offset: int | None) -> OffsetEntry:
    partition = {"cluster": flow.alias, "partition": 0, "topic": topic}
    return OffsetEntry(partition, None if offset is None else {"offset": offset})


def test_a_connector_lives_from_its_creation_to_its_deletion(flow: Flow) -> None:
    topic = flow.create("orders")
    remote = flow.remote(topic)
    write(flow.source, topic, numbered(range(10)))
    with worker(flow) as one:
        one.create("msc", connector(flow, "Source"))
        one.create("hbc", connector(flow, "Heartbeat"))
        one.await_state("hbc", "RUNNING", tasks=1)
        status = one.await_state("msc", "RUNNING", tasks=1)
        assert (status.type, status.connector.worker_id) == ("source", "first:8083")
        await_records(flow, remote, 10)

        _is_as_connect_shows_it(flow, one, topic)
        _has_a_status_by_the_workers_file(flow, topic)

        one.herder.pause("msc")
        one.await_state("msc", "PAUSED", tasks=1)
        paused = heliograph_here("status", flow.folder / "worker.properties")
        assert "connector msc does not run: its state is PAUSED" in paused.stdout
        write(flow.source, topic, numbered(range(10, 20)))
        assert_no_more(flow, remote, 10)
        one.await_state("hbc", "RUNNING", tasks=1)
        with pytest.raises(BadRequest, match="must be in the STOPPED state"):
            one.herder.reset_offsets("msc")

        one.herder.resume("msc")
        one.await_state("msc", "RUNNING", tasks=1)
        await_records(flow, remote, 20)

        one.herder.restart("msc", include_tasks=True, only_failed=False)
        one.await_state("msc", "RUNNING", tasks=1)

        _obeys_altered_offsets(flow, one, topic)

        one.herder.delete("msc")
        eventually(lambda: one.herder.connectors(), lambda names: names == ["hbc"])
        with pytest.raises(NotFound, match="Connector msc not found"):
            one.herder.info("msc")

    values = [record.value for record in read_all(flow.target, remote)[0]]
    assert values == [r.value for r in numbered([*range(20), *range(15, 20), *range(20)])]


def _has_a_status_by_the_workers_file(flow: Flow, topic: str) -> None:
    """`status` reads the connectors from the worker's config topic."""
    path = flow.folder / "worker.properties"
    path.write_text("".join(f"{k} = {v}\n" for k, v in worker_properties(flow).items()))

    done = eventually(
        lambda: heliograph_here("status", path, "-o", "json"), lambda done: done.returncode == 0
    )

    (found,) = json.loads(done.stdout)["flows"]
    assert (found["name"], found["service"]["state"]) == ("msc", "RUNNING")
    (partition,) = found["partitions"]
    assert (partition["topic"], partition["state"]) == (topic, "RUNNING")


def _is_as_connect_shows_it(flow: Flow, one: Worker, topic: str) -> None:
    with pytest.raises(AlreadyExists, match="Connector msc already exists"):
        one.herder.put("msc", {}, initial_state=None, allow_replace=False)
    info = one.herder.info("msc")
    assert info.tasks == (TaskId("msc", 0),)
    (task,) = one.herder.task_configs("msc").values()
    assert task == {
        **info.config,
        "task.class": "org.apache.kafka.connect.mirror.MirrorSourceTask",
        "task.index": "0",
        "task.assigned.partitions": f"{topic}-0",
    }
    eventually(
        lambda: sorted(one.herder.active_topics("msc")), lambda found: found == [flow.remote(topic)]
    )
    eventually(lambda: one.herder.offsets("msc"), lambda found: found == [entry(flow, topic, 9)])


def _obeys_altered_offsets(flow: Flow, one: Worker, topic: str) -> None:
    """The stored offset is the last one mirrored."""
    one.herder.stop("msc")
    one.await_state("msc", "STOPPED", tasks=0)
    assert one.herder.info("msc").tasks == ()
    with pytest.raises(BadRequest, match="missing the 'topic' key"):
        one.herder.alter_offsets(
            "msc", [OffsetEntry({"cluster": flow.alias, "partition": 0}, {"offset": 1})]
        )
    said = one.herder.alter_offsets("msc", [entry(flow, topic, 14)])
    assert said == "The offsets for this connector have been altered successfully"
    one.herder.resume("msc")
    await_records(flow, flow.remote(topic), 25)

    one.herder.stop("msc")
    said = one.herder.reset_offsets("msc")
    assert said == "The offsets for this connector have been reset successfully"
    assert one.herder.offsets("msc") == []
    one.herder.resume("msc")
    await_records(flow, flow.remote(topic), 45)
