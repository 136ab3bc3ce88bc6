"""Starts two new clusters and a worker, Java's or ours, on one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from conformance.errors import ConformanceError
from conformance.sequence.names import TOPIC
from harness import connect_workers
from harness.cluster_side import QUIET, ClusterSide, running_clusters
from harness.mirrors import heliograph_command
from harness.processes import running_process
from heliograph.embedded import Cluster
from heliograph.embedded.ports import free_port
from heliograph.embedded.properties import render_properties
from heliograph.embedded.tools import connect_worker_command

_PARTITIONS, _RECORDS = 2, 10


class System(StrEnum):
    JAVA = "java"
    OURS = "ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`clusters`: bootstrap servers of `source` and `target`; the worker's own cluster is the target."""

    url: str
    clusters: Mapping[str, str]


@contextmanager
def stage(system: System, folder: Path) -> Iterator[Stage]:
    """Yields when the worker answers; everything stops when the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = Cluster("source"), Cluster("target")
    with running_clusters(source, target):
        _fill(source)
        port = free_port()
        file = folder / "worker.properties"
        file.write_text(render_properties(worker_properties(target.bootstrap_servers, port)))
        command = _command(system, file, folder)
        with running_process(command, folder / "console.log", os.environ) as process:
            connect_workers.wait_until_ready(process, port, folder / "console.log")
            yield Stage(
                url=f"http://127.0.0.1:{port}",
                clusters={
                    "source": source.bootstrap_servers,
                    "target": target.bootstrap_servers,
                },
            )


def worker_properties(bootstrap: str, port: int) -> dict[str, str]:
    """The same configuration for both workers."""
    return {
        **connect_workers.worker_properties(bootstrap, port, "conformance"),
        "access.control.allow.origin": "http://known.example",
        "access.control.allow.methods": "GET,POST,PUT",
        "response.http.headers.config": "set X-Conformance: yes",
    }


def _fill(source: Cluster) -> None:
    ClusterSide(lambda: source.bootstrap_servers).create_topics([NewTopic(TOPIC, _PARTITIONS, 1)])
    producer = Producer({"bootstrap.servers": source.bootstrap_servers, **QUIET})
    for partition in range(_PARTITIONS):
        for number in range(_RECORDS):
            producer.produce(TOPIC, f"{partition}-{number}".encode(), partition=partition)
    if producer.flush(30):
        raise ConformanceError(f"topic {TOPIC}: records were not acknowledged within 30 s")


def _command(system: System, file: Path, folder: Path) -> Sequence[str]:
    if system is System.OURS:
        return heliograph_command("serve", str(file))
    return connect_worker_command(file, log=folder / "worker.log")
