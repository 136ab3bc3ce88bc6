"""A link on real clusters, in a thread of its own: the copy loop without Spark around it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager

from heliograph.client.net.cluster import ClusterClient
from heliograph.copy.loop import CopyLoop
from heliograph.mm2.state_records import state_topic
from heliograph.model import Lease, Receipt, TopicPartition
from heliograph.spark.task import chain_of
from support.clusters.reading import topics_of
from support.clusters.writing import create_topics
from support.flows.mirroring import TARGET, Flow
from support.waiting import PATIENCE_SECONDS, eventually


def fresh_receipts(link: CopyLoop) -> list[Receipt]:
    """The newest that there are; a moment old, as a task reports them."""
    link.ask_for_receipts()
    return eventually(link.receipts, bool)


class Linked:
    def __init__(self, link: CopyLoop, stop: threading.Event) -> None:
        self.link = link
        self._stop = stop
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="link under test")
        self._thread.start()

    def _run(self) -> None:
        try:
            self.link.run()
        except BaseException as e:  # noqa: BLE001 - raised again by `stop`
            self._failure = e

    def receipts(self) -> dict[TopicPartition, Receipt]:
        return {TopicPartition(r.topic, r.partition): r for r in fresh_receipts(self.link)}

    def await_failure(self) -> BaseException | None:
        """What it ended with, by itself; `stop` does not raise it any more."""
        self._thread.join(30)
        assert not self._thread.is_alive(), "the link did not end within 30 s"
        failure, self._failure = self._failure, None
        return failure

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the link did not stop"
        if self._failure is not None:
            raise self._failure


@contextmanager
def linked(
    flow: Flow,
    topics: Mapping[str, int],
    extra: Mapping[str, str] | None = None,
    *,
    missing: Container[str] = (),
    lapsed: Callable[[], bool] = lambda: False,
    **settings: str,
) -> Iterator[Linked]:
    """Copies topics with their numbers of partitions from the log start on; remote topics that are not
    there are made, unless named as `missing`. Its clients have the flow's alias for a
    client id."""
    mirror = flow.config(extra, **settings)
    config = mirror.flows[0]
    wanted = {config.target_topic(t): number for t, number in topics.items() if t not in missing}
    wanted |= {config.offsets_topic.name: 1, state_topic(config.source): 1}
    there = topics_of(flow.target)
    create_topics(flow.target, {name: n for name, n in wanted.items() if name not in there})
    leases = [
        Lease(
            flow=config.name,
            topic=topic,
            partition=partition,
            target_topic=config.target_topic(topic),
            start=0,
            share=1 / sum(topics.values()),
        )
        for topic, number in topics.items()
        for partition in range(number)
    ]
    stop = threading.Event()
    source, target, probe_client = (
        ClusterClient(mirror.cluster(alias), client_id=flow.alias, stopped=stop.is_set)
        for alias in (flow.alias, TARGET, TARGET)
    )
    link = Linked(
        CopyLoop(
            config,
            leases,
            source=source,
            target=target,
            probe_client=probe_client,
            stopped=stop.is_set,
            lapsed=lapsed,
            chain=chain_of(config),
        ),
        stop,
    )
    try:
        yield link
    finally:
        link.stop()
        for client in (source, target, probe_client):
            client.close()
