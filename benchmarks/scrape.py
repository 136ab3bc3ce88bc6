"""How long a scrape of /metrics takes with many partitions, from what the driver knows of them to the text:

python -m benchmarks.scrape --partitions 10000 --names strimzi-jmx --detail partition
"""

from __future__ import annotations

import argparse
import gc
import time
from dataclasses import replace

from heliograph.cli.commands.run import ALLOCATIONS_PER_COLLECTION
from heliograph.config.metrics_config import Detail, MetricsConfig, Names
from heliograph.measured import BatchCounts, Stopwatch
from heliograph.metrics.exposition import Exposition
from heliograph.metrics.snapshot import FlowFigures, FlowHealth, PartitionFigures, Snapshot
from heliograph.model import PartitionState, Receipt, TopicPartition
from heliograph.runtime.metering.collect import partition_figures
from heliograph.runtime.metering.health import partition_health
from heliograph.runtime.progress import PartitionView

_PARTITIONS_OF_A_TOPIC = 10
_RUNS = 5
_FLOW = "us->eu"
_NOW = 1_800_000_000.0
_FORMATS = {"text": "text/plain", "OpenMetrics": "application/openmetrics-text;version=1.0.0"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--partitions", type=int, default=10_000)
    options.add_argument("--names", default="strimzi-jmx", help="separated by commas; '' for none")
    options.add_argument("--detail", type=Detail, default=Detail.PARTITION)
    given = options.parse_args()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)  # as the service does
    names = frozenset(map(Names, filter(None, given.names.split(","))))
    config = MetricsConfig(names=names, detail=given.detail)
    views = [_view(number) for number in range(given.partitions)]
    for name, accept in _FORMATS.items():
        exposition = Exposition(config)
        exposition.expose(_snapshot(views), accept)  # the first writes all labels
        wall, cpu, text = [], [], b""
        for _ in range(_RUNS):
            began, began_cpu = time.perf_counter(), time.process_time()
            text = exposition.expose(_snapshot(views), accept).text
            wall.append(time.perf_counter() - began)
            cpu.append(time.process_time() - began_cpu)
        series = sum(not line.startswith(b"#") for line in text.splitlines())
        print(
            f"{name}: {given.partitions:,} partitions, {series:,} series, {len(text) / 1e6:.1f} MB: "
            f"CPU {min(cpu):.2f} s (median {sorted(cpu)[_RUNS // 2]:.2f}), "
            f"elapsed {min(wall):.2f} s (median {sorted(wall)[_RUNS // 2]:.2f}), {_RUNS} runs"
        )


def _snapshot(views: list[PartitionView]) -> Snapshot:
    flow = FlowFigures(
        name=_FLOW,
        source="us",
        target="eu",
        connector=f"{_FLOW}.MirrorSourceConnector",
        health=FlowHealth.COPYING,
    )
    return Snapshot(
        version="",
        state="running",
        flows=(flow,),
        partitions=tuple(map(_figures, views)),
    )


def _figures(view: PartitionView) -> PartitionFigures:
    """As the service collects them."""
    topic, number = view.receipt.topic, view.receipt.partition
    health = partition_health(view, {view.task: 1.0}, _NOW, failed=False)
    partition = TopicPartition(topic, number)
    return partition_figures(_FLOW, partition, f"us.{topic}", view, health, _NOW)


def _view(number: int) -> PartitionView:
    watch = Stopwatch()
    watch.note(0.001 * (number % 5000), 1000)
    receipt = Receipt(
        flow=_FLOW,
        topic=f"orders-of-department-{number // _PARTITIONS_OF_A_TOPIC}",
        partition=number % _PARTITIONS_OF_A_TOPIC,
        position=number * 1_000_003,
        records=number * 1009,
        bytes=number * 1_000_003,
        source_end=number * 1_000_003 + number % 977,
        stored=True,
        state=PartitionState.RUNNING,
        copied_ms=int(_NOW * 1000) - number,
        newest_ms=int(_NOW * 1000) - 3 * number,
        batches=BatchCounts(number),
        ages=watch.read(),
        latencies=watch.read(),
    )
    view = PartitionView(replace(receipt, records=0, bytes=0), task=number % 4)
    view.update(receipt, _NOW - 5)
    return view


if __name__ == "__main__":
    main()
