from __future__ import annotations

from collections.abc import Iterator

import pytest
from guarded import Files, guarded_cluster, make_files

from heliograph.embedded import Cluster, start_all, stop_all


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def guarded(files: Files) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target of mirrors, each with listeners of every kind."""
    clusters = guarded_cluster("guarded-source", files), guarded_cluster("guarded-target", files)
    start_all(clusters)
    yield clusters
    stop_all(clusters)


@pytest.fixture(scope="session")
def broker(guarded: tuple[Cluster, Cluster]) -> Cluster:
    return guarded[0]
