"""Runs a real Kafka cluster on this machine: KRaft, one or more brokers, each a child process.

    with Cluster("source") as source, Cluster("target", nodes=3) as target:
        source.bootstrap_servers   # "127.0.0.1:14711"

Each node is broker and controller. Data is in a temporary folder that is removed with the cluster, unless a
folder is given. The brokers end with this process, however it ends (`child_process.py`).
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from heliograph.counted import counted
from heliograph.embedded.class_archive import archive_flags
from heliograph.embedded.jars import KAFKA_VERSION, kafka_jars
from heliograph.embedded.listener import Listener, SecurityProtocol
from heliograph.embedded.node import Node
from heliograph.embedded.ports import HeldPorts
from heliograph.embedded.properties import HOST, Ports, broker_properties, check_settings
from heliograph.embedded.ready import accepts_connections, ask
from heliograph.embedded.storage import (
    bootstrap_checkpoint,
    new_uuid,
    prepare_log_dir,
    read_cluster_id,
)
from heliograph.errors import BrokerNotRunning, ConfigError

# Starts fastest: no optimising compiler, no collector threads.
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
# The options of Kafka's own start script.
PRODUCTION_JVM = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)

_START_SECONDS = 180.0
_POLL_SECONDS = 0.05
_START_ATTEMPTS = 3
_BIND_FAILED = ("Address already in use", "failed to bind")

_log = logging.getLogger(__name__)


class Cluster:
    """Brokers with the ids 1 to `nodes`. Nothing runs before `start`."""

    def __init__(
        self,
        name: str,
        *,
        nodes: int = 1,
        version: str = KAFKA_VERSION,
        settings: Mapping[str, str] | None = None,
        listeners: Sequence[Listener] = (Listener(),),
        heap: str = "512m",
        jvm_args: Sequence[str] = QUICK_JVM,
        directory: Path | None = None,
    ) -> None:
        if nodes < 1 or not listeners:
            raise ConfigError(f"cluster {name}: needs at least one node and one listener")
        if len({listener.name for listener in listeners}) != len(listeners):
            raise ConfigError(f"cluster {name}: listeners need different names")
        if any(
            len(ports) not in (0, nodes)
            for each in listeners
            for ports in (each.advertised_ports, each.ports)
        ):
            raise ConfigError(f"cluster {name}: a listener needs its ports for every node, or none")
        self.name = name
        self.version = version
        self._settings = dict(settings or {})
        check_settings(name, self._settings)
        self._listeners = tuple(listeners)
        self._jvm_args = (f"-Xmx{heap}", f"-Xms{heap}", "-Djava.awt.headless=true", *jvm_args)
        self._uses_archive = jvm_args is QUICK_JVM
        self._archive_flags: tuple[str, ...] = ()
        self._size = nodes
        self._directory = directory
        self._folder: Path | None = None
        self._nodes: list[Node] = []
        self._ports: list[Ports] = []
        self.cluster_id = ""

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def folder(self) -> Path:
        """Holds node-1, node-2, …, each with server.log, console.log and data."""
        if self._folder is None:
            raise BrokerNotRunning(f"cluster {self.name}: not started")
        return self._folder

    @property
    def bootstrap_servers(self) -> str:
        """All brokers, on the first listener."""
        return self.bootstrap(self._listeners[0].name)

    def bootstrap(self, listener: str) -> str:
        """All brokers, at the addresses that they advertise for this listener."""
        index = [each.name for each in self._listeners].index(listener)
        ports = self._listeners[index].advertised_ports or self.client_ports(listener)
        return ",".join(f"{HOST}:{port}" for port in ports)

    def client_ports(self, listener: str) -> tuple[int, ...]:
        """The ports on which the brokers listen, in the order of their ids."""
        index = [each.name for each in self._listeners].index(listener)
        return tuple(ports.clients[index] for ports in self._ports)

    @property
    def pids(self) -> dict[int, int]:
        """Process ids of the running brokers, by node id."""
        return {node.id: node.pid for node in self._nodes if node.pid is not None}

    def log_file(self, node: int) -> Path:
        return self._node(node).log

    def start(self) -> None:
        """Returns when every broker sees all others and a controller; on failure all are stopped."""
        if self._nodes:
            raise BrokerNotRunning(f"cluster {self.name}: started already")
        kafka_jars(self.version)
        if self._uses_archive:
            self._archive_flags = archive_flags(self.version, self._run_for_archive)
        for attempt in range(1, _START_ATTEMPTS + 1):
            try:
                self._launch()
                self._wait_until_ready(range(1, self._size + 1))
                return
            except BrokerNotRunning as e:
                ports_lost = any(sign in str(e) for sign in _BIND_FAILED)
                self.stop()
                if not ports_lost or attempt == _START_ATTEMPTS:
                    raise
                _log.info("cluster %s: another process took a port; trying other ports", self.name)
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """Ends all brokers; those with temporary data are killed."""
        for node in self._nodes:
            if self._directory is None:
                node.kill()
            else:
                node.terminate()
        for node in self._nodes:
            node.stop()
        self._nodes = []
        if self._directory is None and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None

    def stop_node(self, node: int) -> None:
        """A controlled shutdown: leaders move away first, where there are other brokers."""
        self._node(node).stop()

    def kill_node(self, node: int) -> None:
        """A crash. Failover and a restart of the node wait until its old session has expired.

        That takes `broker.session.timeout.ms`, 9 s by default.
        """
        self._node(node).kill()

    def start_node(self, node: int) -> None:
        """Starts a stopped or killed node again, with its ports and data; returns when it is ready."""
        if self._node(node).running:
            raise BrokerNotRunning(f"broker {self._node(node).name}: runs already")
        self._start_process(self._node(node))
        self._wait_until_ready([node])

    def raise_if_exited(self) -> None:
        """Raises BrokerNotRunning, with the end of the broker's log, if a broker has exited."""
        for node in self._nodes:
            node.raise_if_exited()

    def _run_for_archive(self, flags: tuple[str, ...]) -> None:
        """One broker of this version that starts, shuts down in order, and writes the archive."""
        with (
            tempfile.TemporaryDirectory(prefix="heliograph-archive-") as folder,
            Cluster(
                "archive",
                version=self.version,
                jvm_args=(*QUICK_JVM, *flags),
                directory=Path(folder),
            ),
        ):
            pass

    def _node(self, node: int) -> Node:
        if not 1 <= node <= len(self._nodes):
            raise BrokerNotRunning(
                f"cluster {self.name}: there is no node {node}; started: {counted(len(self._nodes), 'node')}"
            )
        return self._nodes[node - 1]

    def _launch(self) -> None:
        if self._directory is None:
            self._folder = Path(tempfile.mkdtemp(prefix=f"heliograph-{self.name}-"))
        else:
            self._folder = self._directory.absolute()
        self._nodes = [
            Node(self.name, id_, self._folder / f"node-{id_}") for id_ in range(1, self._size + 1)
        ]
        self._format()
        with HeldPorts() as held:
            self._ports = [
                Ports(
                    controller=held.take(),
                    internal=held.take(),
                    clients=tuple(
                        each.ports[index] if each.ports else held.take() for each in self._listeners
                    ),
                )
                for index in range(self._size)
            ]
        for node in self._nodes:
            self._start_process(node)

    def _format(self) -> None:
        known = [read_cluster_id(node.data) for node in self._nodes]
        self.cluster_id = next((id_ for id_ in known if id_ is not None), None) or new_uuid()
        if None not in known:
            return
        scram = [each for listener in self._listeners for each in listener.scram_credentials()]
        with bootstrap_checkpoint(self.version, scram) as checkpoint:
            for node, id_ in zip(self._nodes, known, strict=True):
                if id_ is None:
                    prepare_log_dir(
                        node.data, cluster_id=self.cluster_id, node=node.id, checkpoint=checkpoint
                    )

    def _start_process(self, node: Node) -> None:
        properties = broker_properties(
            node.id, self._ports, self._listeners, self._settings, node.data
        )
        scratch = self._folder if self._directory is None else None
        node.start(self.version, properties, (*self._jvm_args, *self._archive_flags), scratch)

    def _wait_until_ready(self, nodes: Iterable[int]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        waiting = list(nodes)
        while waiting := [node for node in waiting if not self._ready(node)]:
            for node in waiting:
                self._node(node).raise_if_exited()
            if time.monotonic() > deadline:
                late = self._node(waiting[0])
                raise BrokerNotRunning(
                    f"broker {late.name}: not ready after {_START_SECONDS:.0f} s; its log ends "
                    f"with:\n{late.log_tail()}"
                )
            time.sleep(_POLL_SECONDS)

    def _ready(self, node: int) -> bool:
        """Whether this broker sees all other running ones, and its listeners are open."""
        ports = self._ports[node - 1]
        return self._in_cluster(ports.internal) and all(
            # Another process may have the port, so the cluster id is compared; a listener that requires a
            # login only has to be open (a broker that cannot bind its port exits).
            self._in_cluster(port)
            if listener.protocol is SecurityProtocol.PLAINTEXT
            else accepts_connections(HOST, port, timeout_seconds=5)
            for listener, port in zip(self._listeners, ports.clients, strict=True)
        )

    def _in_cluster(self, port: int) -> bool:
        view = ask(HOST, port, timeout_seconds=1)
        return (
            view is not None
            and view.cluster_id == self.cluster_id
            and view.controller >= 0
            and view.brokers >= self.pids.keys()
        )


def start_all(clusters: Sequence[Cluster]) -> None:
    """Starts clusters at the same time; if one fails, stops all and raises its error."""
    for version in {cluster.version for cluster in clusters}:
        kafka_jars(version)
    with ThreadPoolExecutor(max_workers=max(1, len(clusters))) as pool:
        starts = [pool.submit(cluster.start) for cluster in clusters]
    errors = [error for start in starts if (error := start.exception()) is not None]
    if errors:
        stop_all(clusters)
        raise errors[0]


def stop_all(clusters: Iterable[Cluster]) -> None:
    for cluster in clusters:
        cluster.stop()
