"""Links that mirror exactly once, each in a thread of its own, without Spark and without a driver."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.copy.loop import CopyLoop
from heliograph.mm2.connect.transactional_ids import task_transactional_id
from heliograph.model import Lease, ProducerIdentity, Receipt, TopicPartition
from heliograph.spark.task import chain_of
from heliograph.sync.offsets import stored_positions
from support.clusters.grouping import client
from support.clusters.reading import read_all, topics_of
from support.flows.linking import fresh_receipts
from support.flows.mirroring import TARGET, Flow
from support.waiting import PATIENCE_SECONDS

ENABLED = {f"{TARGET}.exactly.once.source.support": "enabled"}
COMMITTED = {"consumer_isolation_level": "read_committed"}


def stored(flow: Flow) -> dict[TopicPartition, int]:
    """As Connect's offsets topic has it, for those who read what is committed."""
    with client(flow.target, TARGET) as target:
        return stored_positions(flow.config(ENABLED, **COMMITTED).flows[0], target)


def visible(flow: Flow, topic: str) -> int:
    """Committed records on the target, in all partitions."""
    if flow.remote(topic) not in topics_of(flow.target):
        return 0
    return sum(map(len, read_all(flow.target, flow.remote(topic)).values()))


class Task:
    """One task's link in a thread of its own, without a driver."""

    def __init__(
        self, mirror: MirrorConfig, leases: Sequence[Lease], identity: ProducerIdentity
    ) -> None:
        flow = self.flow = mirror.flows[0]
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self._clients = [
            ClusterClient(mirror.cluster(alias), client_id="task")
            for alias in (flow.source, flow.target, flow.target, flow.target)
        ]
        source, target, probe_client, coordinator = self._clients
        self.transaction = Transaction(coordinator_of(flow, coordinator), identity)
        self.link = CopyLoop(
            flow,
            leases,
            source=source,
            target=target,
            probe_client=probe_client,
            stopped=self._stop.is_set,
            transaction=self.transaction,
            chain=chain_of(flow),
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.link.run()
        except BaseException as e:  # noqa: BLE001 - looked at by the test
            self.failure = e

    def receipt(self, topic: str) -> Receipt:
        (found,) = (each for each in fresh_receipts(self.link) if each.topic == topic)
        return found

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        for each in self._clients:
            each.close()


def coordinator_of(flow: FlowConfig, cluster: ClusterClient) -> Coordinator:
    assert flow.exactly_once is not None
    name = task_transactional_id(flow.group_id, flow.connector_name, 0)
    return Coordinator(cluster, name, timeout_ms=flow.exactly_once.timeout_ms)


@contextmanager
def task(mirror: MirrorConfig, *leases: Lease) -> Iterator[Task]:
    """Whoever had its transactional.id before is fenced."""
    flow = mirror.flows[0]
    cluster = ClusterClient(mirror.cluster(flow.target), client_id="driver")
    identity = coordinator_of(flow, cluster).init()
    cluster.close()
    running = Task(mirror, leases, identity)
    try:
        yield running
    finally:
        running.stop()


def lease_of(flow: Flow, topic: str, start: int) -> Lease:
    return Lease(
        flow=flow.name, topic=topic, partition=0, target_topic=flow.remote(topic), start=start
    )
