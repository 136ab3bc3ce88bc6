"""Run the mirror on the clusters of a test: once to the end, or on and on in a thread."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import javaproperties

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.embedded import Cluster
from heliograph.model import Receipt
from heliograph.runtime.driver import Mirror
from heliograph.runtime.outcome import Outcome
from heliograph.runtime.progress import Progress
from heliograph.spark.session import LocalSpark
from support.clusters.reading import assert_mirrored
from support.clusters.writing import create_topics
from support.waiting import PATIENCE_SECONDS, eventually

TARGET = "b"
_numbers = count(1)
_ONE_BROKER = (
    "offset.storage",
    "config.storage",
    "status.storage",
    "offset-syncs.topic",
    "checkpoints.topic",
    "heartbeats.topic",
)
#: By default they have 25 and 5: thousands of partitions, for the flows of all tests. Java's own workers have
#: the defaults in tests/real/compat.
FEW_PARTITIONS = {"offset.storage.partitions": "1", "status.storage.partitions": "1"}


def new_alias(name: str) -> str:
    """Short, readable, and never given twice."""
    words = re.sub(r"[^a-z]+", "-", name.lower().removeprefix("test_"))
    return f"{words[:40].strip('-')}-{next(_numbers)}"


def load_properties(folder: Path, properties: Mapping[str, str]) -> MirrorConfig:
    path = folder / f"mm2-{next(_numbers)}.properties"
    path.write_text(javaproperties.dumps(properties, timestamp=False))
    return load(path)


def mirror_once(spark: LocalSpark, config: MirrorConfig) -> Outcome:
    stop, progress = threading.Event(), Progress()
    return Mirror(config, spark, once=True, stop=stop, progress=progress).run()


class Running:
    """A mirror in a thread of its own."""

    def __init__(self, spark: LocalSpark, config: MirrorConfig) -> None:
        self.progress = Progress()
        self.outcome: Outcome | None = None
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self.mirror = Mirror(config, spark, stop=self._stop, progress=self.progress)
        self._thread = threading.Thread(target=self._run, name="mirror under test")
        self._thread.start()

    def _run(self) -> None:
        try:
            self.outcome = self.mirror.run()
        except BaseException as e:  # noqa: BLE001 - raised again by `stop`
            self.failure = e

    def stop(self) -> Outcome:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the mirror did not stop"
        if self.failure is not None:
            raise self.failure
        assert self.outcome is not None
        return self.outcome

    def receipt(self, topic: str, partition: int = 0) -> Receipt | None:
        for receipt in self.progress.receipts():
            if (receipt.topic, receipt.partition) == (topic, partition):
                return receipt
        return None

    def problems(self) -> list[str]:
        """What the mirror shows as wrong just now."""
        return self.mirror.problems.sentences()

    def wait_for_records(self, records: int) -> None:
        """Until the mirror says that it has copied so many in all."""
        eventually(
            lambda: (self.progress.records, self.failure, self.progress.receipts()[:20]),
            lambda state: state[0] >= records or state[1] is not None,
        )


@contextmanager
def running(spark: LocalSpark, config: MirrorConfig) -> Iterator[Running]:
    mirror = Running(spark, config)
    try:
        yield mirror
    finally:
        mirror.stop()


class Flow:
    """One flow as a test has it: a source alias of its own, and topics named after it."""

    def __init__(
        self, alias: str, source: Cluster, target: Cluster, spark: LocalSpark, folder: Path
    ) -> None:
        self.alias = alias
        self.source = source
        self.target = target
        self.spark = spark
        self.folder = folder

    @property
    def name(self) -> str:
        return f"{self.alias}->{TARGET}"

    @property
    def offsets_topic(self) -> str:
        return f"mm2-offsets.{self.alias}.internal"

    def create(
        self,
        name: str = "orders",
        partitions: int = 1,
        *,
        replicas: int = 1,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        """A topic on the source; its full name."""
        topic = f"{self.alias}-{name}"
        create_topics(self.source, {topic: partitions}, replicas=replicas, configs=configs)
        return topic

    def remote(self, topic: str) -> str:
        return f"{self.alias}.{topic}"

    def properties(self, **settings: str) -> dict[str, str]:
        """A minimal mm2.properties. `settings` hold for the flow; dots are written as underscores."""
        written = {f"{self.name}.{key.replace('_', '.')}": v for key, v in settings.items()}
        return {
            "clusters": f"{self.alias}, {TARGET}",
            f"{self.alias}.bootstrap.servers": self.source.bootstrap_servers,
            f"{TARGET}.bootstrap.servers": self.target.bootstrap_servers,
            f"{self.name}.enabled": "true",
            f"{self.name}.topics": f"{self.alias}-.*",
            f"{self.name}.tasks.max": "4",
            "replication.factor": "1",
            "sync.topic.acls.enabled": "false",  # these brokers have no authorizer
            "emit.heartbeats.enabled": "false",  # on the shared source every other flow would mirror them
            **{f"{name}.replication.factor": "1" for name in _ONE_BROKER},
            **FEW_PARTITIONS,
            "once.timeout.seconds": str(int(PATIENCE_SECONDS)),
            **written,
        }

    def config(self, extra: Mapping[str, str] | None = None, **settings: str) -> MirrorConfig:
        return load_properties(self.folder, self.properties(**settings) | dict(extra or {}))

    def mirror_once(self, extra: Mapping[str, str] | None = None, **settings: str) -> Outcome:
        outcome = mirror_once(self.spark, self.config(extra, **settings))
        assert outcome.good, outcome
        return outcome

    @contextmanager
    def running(self, extra: Mapping[str, str] | None = None, **settings: str) -> Iterator[Running]:
        with running(self.spark, self.config(extra, **settings)) as mirror:
            yield mirror

    def assert_mirrored(self, *topics: str, **isolation: str) -> int:
        names = {topic: self.remote(topic) for topic in topics}
        return assert_mirrored(self.source, self.target, names, **isolation)
