"""Runs the two clusters: three brokers each, with a gate of the proxy in front of every broker."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import NewTopic

from chaos.clusters.disks import SmallDisks
from chaos.clusters.proxy import Gate, Proxy
from chaos.errors import ChaosError
from harness.cluster_side import TIMEOUT_SECONDS, ClusterSide
from heliograph.embedded import Cluster, Listener, start_all, stop_all
from heliograph.embedded.tools import SHORT_LIVED, tool_command

NODES = 3
_DIRECT, _PROXIED = "DIRECT", "PROXIED"
_HEAP = "320m"
_ANSWER_SECONDS = 5.0
_SETTINGS = {
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "log.retention.ms": "-1",
    # A third of Kafka's default: after it a dead broker's partitions get a new leader, and it may rejoin.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Transactions of a writer whose broker was killed are aborted sooner than after 10 s.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}


class Side(ClusterSide):
    """One cluster. The mirror connects through the gates; writers and the oracle connect directly."""

    def __init__(self, name: str, proxy: Proxy, *, directory: Path | None = None) -> None:
        self.name = name
        self.gates: list[Gate] = proxy.add_gates(NODES)
        ports = tuple(gate.port for gate in self.gates)
        self.cluster = Cluster(
            name,
            nodes=NODES,
            heap=_HEAP,
            settings=_SETTINGS,
            listeners=(Listener(name=_DIRECT), Listener(name=_PROXIED, advertised_ports=ports)),
            directory=directory,
        )
        super().__init__(lambda: self.direct)

    def open_gates(self) -> None:
        for gate, port in zip(self.gates, self.cluster.client_ports(_PROXIED), strict=True):
            gate.upstream = port

    @property
    def direct(self) -> str:
        return self.cluster.bootstrap(_DIRECT)

    @property
    def proxied(self) -> str:
        return self.cluster.bootstrap(_PROXIED)

    def keep_logs(self, folder: Path) -> None:
        """Copies the brokers' logs, which are deleted with the cluster."""
        for node in range(1, NODES + 1):
            name = f"{self.name}-{node}.log"
            shutil.copyfile(self.cluster.log_file(node), folder / name)

    def create(self, topics: Mapping[str, int]) -> None:
        self.create_topics(
            [NewTopic(name, count, replication_factor=NODES) for name, count in topics.items()]
        )

    def create_fragile(self, topics: Mapping[str, int], nodes: Sequence[int]) -> None:
        """On these two nodes only, with unclean elections: acknowledged records may be lost. The third node
        keeps the quorum of controllers."""
        config = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
        self.create_topics(
            [
                NewTopic(name, count, replica_assignment=[list(nodes)] * count, config=config)
                for name, count in topics.items()
            ]
        )

    def partitions(self, topic: str, timeout: float = _ANSWER_SECONDS) -> int:
        """0 as well while no broker answers."""
        try:
            return super().partitions(topic, timeout)
        except KafkaException:
            return 0

    def move_leaders(self, orders: Mapping[tuple[str, int], Iterable[int]]) -> None:
        """Gives partitions a new order of replicas, and elects the first replica of each."""
        partitions = [
            {"topic": topic, "partition": partition, "replicas": list(replicas)}
            for (topic, partition), replicas in orders.items()
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"version": 1, "partitions": partitions}, file)
            file.flush()
            options = ("--reassignment-json-file", file.name, "--execute")
            command = tool_command(
                "kafka-reassign-partitions",
                *("--bootstrap-server", self.direct, *options),
                jvm_args=SHORT_LIVED,
            )
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
            )
        if done.returncode:
            raise ChaosError(f"{self.name}: cannot move leaders: {done.stdout}{done.stderr}")
        chosen = [TopicPartition(topic, partition) for topic, partition in orders]
        with contextlib.suppress(KafkaException):  # ELECTION_NOT_NEEDED: it leads already
            self.admin.elect_leaders(ElectionType.PREFERRED, chosen).result(TIMEOUT_SECONDS)


class Stage:
    """Source and target; they run until the block ends."""

    def __init__(self, *, small_disks: bool = False) -> None:
        self._proxy = Proxy()
        self._folder = Path(tempfile.mkdtemp(prefix="heliograph-chaos-")) if small_disks else None
        self.disks = None if self._folder is None else SmallDisks(self._folder, NODES)
        self.source = Side("source", self._proxy)
        self.target = Side("target", self._proxy, directory=self._folder)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.source, self.target

    def __enter__(self) -> Stage:
        try:
            if self.disks is not None:
                self.disks.mount()
            start_all([side.cluster for side in self.sides])
        except BaseException:
            self._tidy()
            raise
        for side in self.sides:
            side.open_gates()
        return self

    def __exit__(self, *_: object) -> None:
        for side in self.sides:
            side.forget_admin()
        self._tidy()

    def _tidy(self) -> None:
        self._proxy.close()
        stop_all([side.cluster for side in self.sides])
        if self.disks is not None:
            self.disks.unmount()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def heal(self) -> None:
        """Opens all gates and starts all stopped brokers."""
        for side in self.sides:
            for gate in side.gates:
                gate.heal()
            for node in range(1, NODES + 1):
                if node not in side.cluster.pids:
                    side.cluster.start_node(node)
