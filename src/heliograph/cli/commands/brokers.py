"""`heliograph brokers`: starts real Kafka clusters to try things out, until Ctrl-C."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from heliograph.counted import counted
from heliograph.embedded import KAFKA_VERSION, Cluster, start_all, stop_all
from heliograph.embedded.tools import tool_command
from heliograph.errors import ConfigError, EnvironmentProblem

DEFAULT_NAMES = ("source", "target")

# The defaults, 2 and 3, are more than a cluster of one broker has.
_REPLICATION_FACTORS = (
    "replication.factor",
    "offset-syncs.topic.replication.factor",
    "heartbeats.topic.replication.factor",
    "checkpoints.topic.replication.factor",
    "offset.storage.replication.factor",
    "config.storage.replication.factor",
    "status.storage.replication.factor",
)


def brokers(
    names: Sequence[str] = (),
    *,
    nodes: int = 1,
    kafka_version: str = KAFKA_VERSION,
    data: Path | None = None,
    console: Console | None = None,
) -> None:
    """Starts a cluster per name, prints how to use them, and stops them on Ctrl-C or SIGTERM.

    Without `data`, records are deleted at the end; with it, each cluster keeps them in `data/<name>` for the
    next start. Only for the main thread, since it handles signals.
    """
    console = console or Console()
    wanted = tuple(names) or DEFAULT_NAMES
    _check_names(wanted)
    _check_nodes(nodes)
    clusters = [
        Cluster(
            name,
            nodes=nodes,
            version=kafka_version,
            settings={"auto.create.topics.enable": "true"},
            directory=None if data is None else data / name,
        )
        for name in wanted
    ]
    console.print(
        f"starting {_listed(wanted)}: Kafka {kafka_version}, {counted(nodes, 'broker')} each"
    )
    try:
        start_all(clusters)
        with stop_signal() as stopped:
            for cluster in clusters:
                console.print(f"{cluster.name}  {cluster.bootstrap_servers}", highlight=False)
            console.print(instructions(clusters), markup=False, highlight=False, soft_wrap=True)
            _watch(clusters, stopped)
    finally:
        console.print("stopping")
        stop_all(clusters)


def instructions(clusters: Sequence[Cluster]) -> str:
    """Commands to try with running clusters, as plain text."""
    server = clusters[0].bootstrap_servers
    lines = [
        "",
        "With kcat",
        f"  echo hello | kcat -P -b {server} -t greetings",
        f"  kcat -C -b {server} -t greetings -e",
        "With Kafka's own tools",
        *_tool_lines(clusters[0]),
    ]
    if len(clusters) > 1:
        lines += ["mm2.properties", *(f"  {line}" for line in mm2_properties(*clusters[:2]))]
    lines += ["Logs", *(f"  {each.folder}/node-*/server.log" for each in clusters)]
    return "\n".join([*lines, "", "Ctrl-C stops them"])


def mm2_properties(source: Cluster, target: Cluster) -> list[str]:
    """A mirror from `source` to `target`, for both Heliograph and MirrorMaker 2."""
    replicas = min(3, len(source.pids), len(target.pids))
    return [
        f"clusters = {source.name}, {target.name}",
        f"{source.name}.bootstrap.servers = {source.bootstrap_servers}",
        f"{target.name}.bootstrap.servers = {target.bootstrap_servers}",
        f"{source.name}->{target.name}.enabled = true",
        f"{source.name}->{target.name}.topics = .*",
        *(f"{key} = {replicas}" for key in _REPLICATION_FACTORS),
    ]


def _tool_lines(cluster: Cluster) -> list[str]:
    try:
        commands = [
            tool_command(
                *(name, "--bootstrap-server", cluster.bootstrap_servers, *arguments),
                version=cluster.version,
            )
            for name, *arguments in (
                ("kafka-topics", "--list"),
                ("kafka-console-producer", "--topic", "greetings"),
                ("kafka-console-consumer", "--topic", "greetings", "--from-beginning"),
            )
        ]
    except EnvironmentProblem as e:  # the brokers run without the tools
        return [f"  not available: {e}"]
    return [f"  {shlex.join(command)}" for command in commands]


def _check_names(names: Sequence[str]) -> None:
    problems = [
        f"cluster name {name!r}: expected letters, digits, '-' and '_'"
        for name in names
        if not name.replace("-", "").replace("_", "").isalnum()
    ]
    if len(set(names)) != len(names):
        problems.append(f"cluster names: expected different names, found {_listed(names)}")
    if problems:
        raise ConfigError(problems)


def _check_nodes(nodes: int) -> None:
    """Two brokers are no cluster to learn from: if one of them fails, no replicated topic has a majority."""
    if nodes not in (1, 3):
        raise ConfigError(f"--nodes: expected 1 or 3 brokers per cluster, found {nodes}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _watch(clusters: Sequence[Cluster], stopped: threading.Event) -> None:
    """Returns when `stopped` is set; raises BrokerNotRunning if a broker exits by itself."""
    while not stopped.wait(1.0):
        for cluster in clusters:
            cluster.raise_if_exited()


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second Ctrl-C raises KeyboardInterrupt."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
