"""Runs Heliograph's copy loop without Spark: the upper bound of its throughput.

    python benchmarks/raw_copy.py mm2.properties [--processes N]

Copies what is in the topics when it starts, and ends. Partitions are assigned to the processes in turn; each
process runs one CopyLoop.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path

from heliograph.client.admin.topics import LATEST, NewTopic, create_topics, list_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.copy.loop import CopyLoop
from heliograph.model import Lease, PartitionState, TopicPartition

_CLIENT_ID = "raw-copy"


def copy(mirror: MirrorConfig, flow: FlowConfig, leases: Sequence[Lease]) -> None:
    """Runs one copy loop to the end of its leases; exits with 1 if one of them is not done."""
    logging.basicConfig(level=logging.INFO)
    source, target = _clients(mirror, flow)
    _, probe_client = _clients(mirror, flow)
    loop = CopyLoop(
        flow,
        leases,
        source=source,
        target=target,
        probe_client=probe_client,
        stopped=lambda: False,
    )
    loop.run()
    for client in (source, target, probe_client):
        client.close()
    failed = [each for each in loop.receipts() if each.state is not PartitionState.DONE]
    for receipt in failed:
        logging.error("not done: %s", receipt)
    sys.exit(1 if failed else 0)


def _clients(mirror: MirrorConfig, flow: FlowConfig) -> tuple[ClusterClient, ClusterClient]:
    return (
        ClusterClient(mirror.cluster(flow.source), client_id=_CLIENT_ID),
        ClusterClient(mirror.cluster(flow.target), client_id=_CLIENT_ID),
    )


def _plan(mirror: MirrorConfig, flow: FlowConfig) -> list[Lease]:
    """Creates the remote topics and the offsets topic; returns a lease per partition, up to its current
    end."""
    source, target = _clients(mirror, flow)
    chosen = flow.topic_filter()
    counts = {
        topic: count
        for topic, count in source.refresh().partitions.items()
        if flow.should_replicate(topic, chosen)
    }
    wanted = [(flow.target_topic(topic), count) for topic, count in counts.items()]
    wanted.append((flow.offsets_topic.name, flow.offsets_topic.partitions))
    new = [
        NewTopic(name=name, partitions=count, replication_factor=1, configs={})
        for name, count in wanted
    ]
    if failed := create_topics(target, new):
        raise next(iter(failed.values()))
    partitions = [TopicPartition(topic, n) for topic, count in counts.items() for n in range(count)]
    ends = list_offsets(source, partitions, LATEST)
    list_offsets(
        target, [TopicPartition(n, i) for n, count in wanted for i in range(count)], LATEST
    )
    source.close()
    target.close()
    return [
        Lease(
            flow=flow.name,
            topic=topic,
            partition=number,
            target_topic=flow.target_topic(topic),
            start=0,
            end=ends[TopicPartition(topic, number)],
        )
        for topic, number in partitions
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("properties", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    mirror = load(options.properties)
    flow = mirror.flows[0]
    leases = _plan(mirror, flow)
    context = multiprocessing.get_context("fork")  # nothing is open, no thread runs
    workers = [
        context.Process(target=copy, args=(mirror, flow, leases[share :: options.processes]))
        for share in range(options.processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(abs(worker.exitcode or 0) for worker in workers)


if __name__ == "__main__":
    sys.exit(main())
