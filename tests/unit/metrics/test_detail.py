from __future__ import annotations

from dataclasses import replace

from heliograph.config.metrics_config import Detail
from heliograph.metrics.detail import rows
from heliograph.metrics.snapshot import PartitionHealth
from heliograph.metrics.windows import Rates, Spread
from support.snapshots import partition, times

SLOW = replace(
    partition(1), lag=10, lag_seconds=60.0, health=PartitionHealth.RETRYING, rates=Rates(1.0, 2.0)
)


def test_a_topic_is_the_sum_of_its_partitions_and_as_late_as_the_latest() -> None:
    (orders, bills) = rows([partition(0), SLOW, partition(0, "bills")], Detail.TOPIC)

    assert (orders.topic, orders.partition, bills.topic) == ("orders", None, "bills")
    assert (orders.lag, orders.lag_seconds, orders.records) == (17, 60.0, 200)
    assert orders.states == [(PartitionHealth.COPYING, 1), (PartitionHealth.RETRYING, 1)]
    assert orders.rates == Rates(3.5, 1002.0)
    assert orders.latencies.count == 4
    assert orders.latencies.buckets == times(0.02, 0.3, 0.02, 0.3).buckets


def test_a_flow_has_one_row() -> None:
    (row,) = rows([partition(0), partition(0, "bills")], Detail.FLOW)

    assert (row.topic, row.remote_topic, row.records) == (None, None, 200)


def test_partitions_without_values_do_not_count() -> None:
    silent = replace(partition(1), lag=None, lag_seconds=None, copy_age=None, latency=Spread())
    (row,) = rows([partition(0), silent], Detail.TOPIC)
    (none,) = rows([silent], Detail.TOPIC)

    assert (row.lag, row.lag_seconds, row.copy_age) == (7, 1.5, 0.25)
    assert row.latency == partition(0).latency
    assert (none.lag, none.lag_seconds) == (None, None)
