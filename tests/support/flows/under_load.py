"""A producer that writes while a mirror runs, and what the mirror must hold in the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from heliograph.embedded import Cluster
from support.clusters.reading import offsets, read_all
from support.clusters.writing import Writer, numbered
from support.flows.mirroring import Flow
from support.waiting import PATIENCE_SECONDS, eventually


@contextmanager
def writing(cluster: Cluster, topic: str, partitions: int) -> Iterator[threading.Event]:
    """Batches into every partition, one after the other, while the block runs."""
    stop, failures = threading.Event(), list[BaseException]()
    writer = Writer(cluster, topic, codec="lz4")

    def work() -> None:
        number = 0
        try:
            while not stop.wait(0.02):
                writer.batch(
                    record
                    for partition in range(partitions)
                    for record in numbered(range(number, number + 5), partition=partition)
                )
                number += 5
        except BaseException as e:  # noqa: BLE001 - raised again when the block ends
            failures.append(e)

    thread = threading.Thread(target=work, name="writer")
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)
    for failure in failures:
        raise failure


def wait_for_same_length(flow: Flow, topic: str, partitions: int) -> None:
    """Until every partition of the mirror is as long as its source (no compaction, no transaction)."""
    eventually(
        lambda: [
            (offsets(flow.source, topic, p)[1], offsets(flow.target, flow.remote(topic), p)[1])
            for p in range(partitions)
        ],
        lambda lengths: all(source == target for source, target in lengths),
    )


def wait_for_all_values(flow: Flow, topic: str, partitions: int) -> None:
    """Until the mirror holds every value of the source in order, each at least once."""

    def first_seen(cluster: Cluster, name: str) -> list[list[bytes | None]]:
        found = read_all(cluster, name)
        return [list(dict.fromkeys(r.value for r in found[p])) for p in range(partitions)]

    wanted = first_seen(flow.source, topic)
    # A mirror that is shorter lacks some of them: its length costs less than its values.
    eventually(
        lambda: [offsets(flow.target, flow.remote(topic), p)[1] for p in range(partitions)],
        lambda ends: all(end >= len(each) for end, each in zip(ends, wanted, strict=True)),
    )
    eventually(
        lambda: first_seen(flow.target, flow.remote(topic)),
        lambda found: found == wanted,
    )


def busy_workers() -> list[psutil.Process]:
    """Spark's Python workers that have a task: those that talk to a port of this process (the channel)."""
    ours = {c.laddr.port for c in psutil.Process().net_connections("tcp") if c.status == "LISTEN"}
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            ports = {c.raddr.port for c in process.net_connections("tcp") if c.raddr}
            if "pyspark.daemon" in process.cmdline() and ports & ours:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
