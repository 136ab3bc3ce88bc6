from __future__ import annotations

from collections.abc import Iterator

import pytest

from heliograph.embedded import Cluster
from support.clusters.guarded import Files, guarded_cluster, make_files
from support.lanes import Lanes


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def guarded(files: Files, lanes: Lanes) -> Iterator[Cluster]:
    """Listeners of every kind, and an authorizer. Source and target of flows at once: names keep them
    apart."""
    with guarded_cluster(files) as cluster:
        lanes.at_end(cluster.stop)
        yield cluster
