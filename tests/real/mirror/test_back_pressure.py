"""A mirror takes no more than it may: memory whatever the lag, bytes per second whatever the load."""

from __future__ import annotations

import time
import tracemalloc

from support.clusters.quotas import set_client_quota
from support.clusters.reading import ends
from support.clusters.writing import Writer, numbered
from support.flows.linking import Linked, linked
from support.flows.mirroring import Flow
from support.waiting import eventually

MEBIBYTE = 1 << 20


def write_lag(
    flow: Flow, topic: str, partitions: int, batches: int, *, records: int, size: int
) -> None:
    writer = Writer(flow.source, topic)
    for number in range(batches):
        first = number * records
        for partition in range(partitions):
            batch = numbered(range(first, first + records), partition=partition, padding=size)
            writer.queue(topic, batch)
        writer.flush()


def copied_bytes(link: Linked) -> int:
    return sum(receipt.bytes for receipt in link.receipts().values())


def test_memory_is_bounded_by_configuration_whatever_the_lag(flow: Flow) -> None:
    """docs/limits.md has the bound. The target takes a few of the 30 MB that wait."""
    topic = flow.create(partitions=3)
    write_lag(flow, topic, 3, 10, records=100, size=10_000)
    set_client_quota(flow.target, flow.alias, "producer_byte_rate", 2e5)
    small = {
        "b.producer.buffer.memory": str(4 * MEBIBYTE),
        f"{flow.alias}.consumer.fetch.max.bytes": str(MEBIBYTE),
        f"{flow.alias}.consumer.max.partition.fetch.bytes": str(MEBIBYTE // 4),
    }
    tracemalloc.start()
    try:
        with linked(flow, {topic: 3}, small) as link:
            eventually(lambda: copied_bytes(link), bool)
            time.sleep(2)  # so long is more fetched than the target takes
            _, peak = tracemalloc.get_traced_memory()
            copied = copied_bytes(link)
    finally:
        tracemalloc.stop()

    largest_batch = MEBIBYTE
    objects = MEBIBYTE
    assert peak < 4 * MEBIBYTE + max(MEBIBYTE, largest_batch) + objects
    assert 0 < copied < 20e6, "the target was to be slower than the source"


def test_a_flow_keeps_to_its_byte_rate_and_every_partition_has_its_part(flow: Flow) -> None:
    """It copies no more than the rate allows. That it copies as much: tests/unit/copy/test_throttle.py"""
    rate, partitions = 1_000_000, 3
    topic = flow.create(partitions=partitions)
    write_lag(flow, topic, partitions, 200, records=10, size=1000)
    remote = flow.remote(topic)

    with flow.running(throttle_bytes_per_second=str(rate)) as mirror:
        before = eventually(
            lambda: ends(flow.target, remote), lambda found: bool(found) and all(found.values())
        )
        began = time.monotonic()
        after = eventually(
            lambda: ends(flow.target, remote),
            lambda found: all(found[each] >= min(before[each] + 600, 2000) for each in before),
        )
        seconds = time.monotonic() - began
        receipts = eventually(
            mirror.progress.receipts, lambda found: any(r.throttled and r.records for r in found)
        )

    bytes_per_record = sum(r.bytes for r in receipts) / sum(r.records for r in receipts)
    copied = {partition: after[partition] - before[partition] for partition in after}
    # A second for what was fetched before, and for what a pause has saved up.
    allowed = rate * (seconds + 1)
    assert sum(copied.values()) * bytes_per_record < allowed, (seconds, copied)
    # Three partitions in two tasks: one of them is alone in its task, and so has twice as much as the others.
    share = allowed / partitions
    assert max(copied.values()) * bytes_per_record < 2 * share, (seconds, copied)
