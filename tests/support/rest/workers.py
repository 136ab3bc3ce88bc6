"""A worker of `heliograph serve` in threads of this process, on the run's Spark, without its REST."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from heliograph.config.connectors.worker import WorkerConfig, worker_of
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.mirror_config import MirrorConfig
from heliograph.connect.herder import ConnectorStatus, NotFound
from heliograph.connect.worker_herder import WorkerHerder, work_group
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress
from support.clusters.reading import offsets, topics_of
from support.flows.mirroring import FEW_PARTITIONS, TARGET, Flow
from support.waiting import PATIENCE_SECONDS, eventually, stays

_PACKAGE = "org.apache.kafka.connect.mirror."


def worker_properties(flow: Flow) -> dict[str, str]:
    """A worker on the flow's target, with topics and a group that no other test has."""
    name = f"connect-{flow.alias}"
    return {
        "bootstrap.servers": flow.target.bootstrap_servers,
        "group.id": name,
        **{f"{kind}.storage.topic": f"{name}-{kind}" for kind in ("config", "offset", "status")},
        **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
        **FEW_PARTITIONS,
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "header.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "offset.flush.interval.ms": "1000",
    }


def connector(flow: Flow, kind: str, **settings: str) -> dict[str, str]:
    """`kind` is Source, Checkpoint or Heartbeat; dots of settings are written as underscores."""
    return {
        "connector.class": f"{_PACKAGE}Mirror{kind}Connector",
        "source.cluster.alias": flow.alias,
        "target.cluster.alias": TARGET,
        "source.cluster.bootstrap.servers": flow.source.bootstrap_servers,
        "target.cluster.bootstrap.servers": flow.target.bootstrap_servers,
        "topics": f"{flow.alias}-.*",
        "groups": f"{flow.alias}-.*",
        "tasks.max": "2",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "checkpoints.topic.replication.factor": "1",
        "heartbeats.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        "refresh.topics.interval.seconds": "1",
        "refresh.groups.interval.seconds": "1",
        "emit.checkpoints.interval.seconds": "1",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }


class Worker:
    def __init__(self, flow: Flow, properties: Mapping[str, str], url: str) -> None:
        file = PropertiesFile(
            name="worker.properties",
            properties={key: Property(value, 1) for key, value in properties.items()},
        )
        self.config: WorkerConfig = worker_of(file, {})
        self.progress = Progress()
        self._stop = threading.Event()
        nothing = MirrorConfig(
            flows=(),
            heartbeats=(),
            clusters=(),
            epoch_seconds=self.config.epoch_seconds,
            once_timeout_seconds=int(PATIENCE_SECONDS),
        )
        self.mirror = Mirror(
            nothing,
            flow.spark,
            stop=self._stop,
            progress=self.progress,
            group=work_group(self.config, url),
        )
        self.herder = WorkerHerder(self.config, url, self.mirror, self.progress)
        self._thread = threading.Thread(target=self.mirror.run, name="mirror of a worker")
        self.herder.start()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        self.herder.close()

    def await_ready(self) -> None:
        eventually(self.herder.ready, lambda reason: reason is None)

    def create(self, name: str, config: Mapping[str, str], state: str | None = None) -> None:
        config = {**config, "name": name}
        self.herder.put(name, config, initial_state=state, allow_replace=True)

    def await_status(self, name: str, wanted: Callable[[ConnectorStatus], bool]) -> ConnectorStatus:
        def status() -> ConnectorStatus | None:
            try:
                return self.herder.status(name)
            except NotFound:
                return None

        found = eventually(status, lambda s: s is not None and wanted(s))
        assert found is not None
        return found

    def await_state(self, name: str, state: str, tasks: int | None = None) -> ConnectorStatus:
        """Of the connector and all its tasks, of which there are so many."""
        return self.await_status(
            name,
            lambda s: (
                s.connector.state == state
                and all(task.state == state for task in s.tasks.values())
                and (tasks is None or len(s.tasks) == tasks)
            ),
        )


@contextmanager
def worker(flow: Flow, url: str = "http://first:8083/", **settings: str) -> Iterator[Worker]:
    extra = {name.replace("_", "."): value for name, value in settings.items()}
    running = Worker(flow, worker_properties(flow) | extra, url)
    try:
        running.await_ready()
        yield running
    finally:
        running.stop()


def await_records(flow: Flow, topic: str, count: int) -> None:
    eventually(
        lambda: topic in topics_of(flow.target) and offsets(flow.target, topic)[1],
        lambda end: end == count,
    )


def assert_no_more(flow: Flow, topic: str, count: int) -> None:
    """What is paused stays where it is, for as long as anybody could tell."""
    stays(lambda: offsets(flow.target, topic)[1], lambda end: end <= count, seconds=2)
