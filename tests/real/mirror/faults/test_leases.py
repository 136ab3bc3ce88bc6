"""Leases are good once, and while the driver confirms them. On a Spark cluster: make chaos."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from heliograph.errors import LeaseLapsed
from heliograph.mm2.state_records import state_topic
from heliograph.model import TopicPartition
from support.clusters.reading import ends
from support.clusters.stored import stored
from support.clusters.writing import numbered, write
from support.flows.linking import linked
from support.flows.mirroring import Flow
from support.flows.services import spark_environment
from support.waiting import eventually

_SHOW_CONF = """
import logging
from heliograph.spark.session import ClusterSpark
logging.basicConfig()
spark = ClusterSpark("local[2]", 2)
conf = spark.session().sparkContext.getConf()
print(conf.get("spark.speculation"), conf.get("spark.task.maxFailures"))
spark.close()
"""


def test_a_link_whose_leases_have_lapsed_stops_and_stores_neither_offsets_nor_snapshots(
    flow: Flow,
) -> None:
    """Stored late, they would hide what a successor has stored."""
    topic, lapsed = flow.create(partitions=1), threading.Event()
    write(flow.source, topic, numbered(range(10)))
    state = state_topic(flow.alias)

    with linked(flow, {topic: 1}, lapsed=lapsed.is_set) as link:
        eventually(lambda: link.receipts()[TopicPartition(topic, 0)].records, lambda n: n == 10)
        eventually(
            lambda: ends(flow.target, state)[0], lambda end: end > 1
        )  # the snapshot of the ten
        before = ends(flow.target, state)
        lapsed.set()
        write(flow.source, topic, numbered(range(10, 20)))
        failure = link.await_failure()

    assert isinstance(failure, LeaseLapsed)
    assert stored(flow) == {}
    assert ends(flow.target, state) == before
    assert ends(flow.target, flow.remote(topic)) == {0: 10}


@pytest.mark.timeout(180)
def test_speculation_and_retries_of_a_users_spark_configuration_are_overridden_and_named(
    tmp_path: Path,
) -> None:
    users = {"spark.speculation": "true", "spark.task.maxFailures": "4"}

    done = subprocess.run(
        [sys.executable, "-c", _SHOW_CONF],
        capture_output=True,
        text=True,
        env=spark_environment(tmp_path, users),
        check=True,
    )

    assert done.stdout.split() == ["false", "1"]
    assert "Spark setting spark.speculation=true is overridden with false" in done.stderr
    assert "Spark setting spark.task.maxFailures=4 is overridden with 1" in done.stderr
