"""Two clusters, one cloned from a snapshot of the other: both have the same id."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.spark.session import LocalSpark
from support.clusters.grouping import commit, committed
from support.clusters.reading import ends, topics_of
from support.clusters.writing import create_topics, numbered, write
from support.flows.mirroring import Flow, new_alias

_SETTINGS = {"log.retention.ms": "-1", "group.initial.rebalance.delay.ms": "0"}
SYNC = {
    "sync_group_offsets_enabled": "true",
    "groups": "app",
    "topics": "orders",
}


@pytest.fixture
def clones(tmp_path: Path) -> Iterator[tuple[Cluster, Cluster]]:
    """Both hold `orders` with ten records, in the same topic by its id."""
    original = Cluster("original", settings=_SETTINGS, directory=tmp_path / "original")
    with original:
        create_topics(original, {"orders": 1})
        write(original, "orders", numbered(range(10)))
    shutil.copytree(tmp_path / "original", tmp_path / "clone")
    clone = Cluster("clone", settings=_SETTINGS, directory=tmp_path / "clone")
    with original, clone:
        assert original.cluster_id == clone.cluster_id
        yield original, clone


def test_groups_of_a_clone_are_left_alone_until_it_is_accepted_as_another_cluster(
    clones: tuple[Cluster, Cluster],
    spark: LocalSpark,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    original, clone = clones
    flow = Flow(new_alias("clones"), original, clone, spark, tmp_path)
    remote, checkpoints = flow.remote("orders"), f"{flow.alias}.checkpoints.internal"
    commit(original, "app", {("orders", 0): 4})

    refused = flow.mirror_once(**SYNC)
    assert refused.records == 10  # records are mirrored all the same
    assert "have the same cluster id" in caplog.text
    assert "same.cluster.id.policy=accept" in caplog.text
    assert committed(clone, "app", remote) == [-1001]
    assert checkpoints not in topics_of(clone) or ends(clone, checkpoints) == {0: 0}

    flow.mirror_once(**SYNC, same_cluster_id_policy="accept")
    assert committed(clone, "app", remote) == [4]
