"""The fixture of `MirrorConnectorsIntegrationBaseTest`: two clusters, flows between them, short intervals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster, start_all, stop_all
from heliograph.spark.session import LocalSpark
from support.flows.mirroring import new_alias
from support.flows.pair import Pair
from support.lanes import Lanes

_SETTINGS = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.fixture(scope="session")
def _primary_and_backup(lanes: Lanes) -> Iterator[tuple[Cluster, Cluster]]:
    """Apart from the other tests' clusters: heartbeats there would be mirrored by every flow."""
    primary, backup = (Cluster(name, settings=_SETTINGS) for name in ("primary", "backup"))
    start_all([primary, backup])
    lanes.at_end(lambda: stop_all([primary, backup]))
    yield primary, backup
    stop_all([primary, backup])


@pytest.fixture
def pair(
    request: pytest.FixtureRequest,
    spark: LocalSpark,
    _primary_and_backup: tuple[Cluster, Cluster],
    tmp_path: Path,
) -> Pair:
    """Aliases, topics and groups that no other test has, on clusters that all share."""
    primary, backup = _primary_and_backup
    mark = new_alias(request.node.originalname).rpartition("-")[2]
    return Pair(mark, primary, backup, spark, tmp_path)
