"""Two Connect workers, MirrorMaker 2's and ours, each on a target of its own, with the same connectors."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from dashboards.comparison.agent import agent_argument
from harness import connect_workers
from harness.cluster_side import ClusterSide
from harness.errors import HarnessError
from harness.mirrors import heliograph_command
from harness.processes import running_process
from heliograph.embedded import Cluster
from heliograph.embedded.ports import free_port
from heliograph.embedded.properties import render_properties
from heliograph.embedded.tools import connect_worker_command

SOURCE, TARGET = "east", "west"
FLOW = f"{SOURCE}->{TARGET}"
_PACKAGE = "org.apache.kafka.connect.mirror."
_RUNNING_SECONDS = 120.0


class System(StrEnum):
    MM2 = "mm2"
    HELIOGRAPH = "heliograph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One system: its target, and the port of its metrics."""

    system: System
    target: ClusterSide
    bootstrap: str
    metrics: int


def connectors(source: str, target: str, topics: Sequence[str]) -> dict[str, dict[str, str]]:
    """Named as Strimzi names them, one task each."""
    shared = {
        "source.cluster.alias": SOURCE,
        "target.cluster.alias": TARGET,
        "source.cluster.bootstrap.servers": source,
        "target.cluster.bootstrap.servers": target,
        "tasks.max": "1",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "checkpoints.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        "sync.topic.configs.enabled": "false",
        "topics": ",".join(topics),
        "groups": "billing",
        "emit.checkpoints.interval.seconds": "2",
        "refresh.groups.interval.seconds": "5",
        "refresh.topics.interval.seconds": "5",
    }
    return {
        f"{FLOW}.Mirror{kind}Connector": {
            **shared,
            "connector.class": f"{_PACKAGE}Mirror{kind}Connector",
        }
        for kind in ("Source", "Checkpoint")
    }


@contextmanager
def running_side(
    system: System, source: Cluster, target: Cluster, topics: Sequence[str], folder: Path
) -> Iterator[Side]:
    """Its connectors and tasks are RUNNING."""
    folder.mkdir(parents=True)
    rest, metrics = free_port(), free_port()
    file, console = folder / "worker.properties", folder / "console.log"
    properties = connect_workers.worker_properties(target.bootstrap_servers, rest, "proof")
    with ExitStack() as stack:
        if system is System.MM2:
            command = connect_worker_command(file, log=folder / "worker.log")
            command.insert(command.index("-cp"), agent_argument(metrics))
        else:
            command = heliograph_command("serve", str(file))
            properties["metrics.listener"] = f"http://127.0.0.1:{metrics}"
        file.write_text(render_properties(properties))
        process = stack.enter_context(running_process(command, console, os.environ))
        connect_workers.wait_until_ready(process, rest, console)
        wanted = connectors(source.bootstrap_servers, target.bootstrap_servers, topics)
        for name, config in wanted.items():
            connect_workers.request(rest, "PUT", f"/connectors/{quote(name)}/config", config)
        _wait_until_running(rest, list(wanted))
        yield Side(
            system=system,
            target=ClusterSide(lambda: target.bootstrap_servers),
            bootstrap=target.bootstrap_servers,
            metrics=metrics,
        )


def _wait_until_running(port: int, names: Sequence[str]) -> None:
    deadline = time.monotonic() + _RUNNING_SECONDS
    for name in names:
        while True:
            states = _states(port, name)
            if len(states) > 1 and set(states) == {"RUNNING"}:
                break
            if time.monotonic() > deadline:
                raise HarnessError(f"{name} is not running, but {states}")
            time.sleep(0.5)


def _states(port: int, name: str) -> list[str]:
    try:
        status = connect_workers.request(port, "GET", f"/connectors/{quote(name)}/status")
    except (HarnessError, OSError):
        return []  # not known yet, or between two leaders
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
