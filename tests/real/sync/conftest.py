"""Flows of tests that run no mirror."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from grouping import client
from handmade import HandMade
from mirroring import TARGET, Flow, new_alias
from sides import Sides, open_sides

from heliograph.embedded import Cluster


@pytest.fixture
def made(
    request: pytest.FixtureRequest,
    source_cluster: Cluster,
    target_cluster: Cluster,
    tmp_path: Path,
) -> Iterator[HandMade]:
    alias = new_alias(request.node.originalname)
    flow = Flow(alias, source_cluster, target_cluster, None, tmp_path)  # type: ignore[arg-type]
    with client(source_cluster, alias) as source, client(target_cluster, TARGET) as target:
        yield HandMade(flow, source, target)


@pytest.fixture
def sides(
    request: pytest.FixtureRequest, source_cluster: Cluster, target_cluster: Cluster, tmp_path: Path
) -> Iterator[Sides]:
    with open_sides(request.node.originalname, source_cluster, target_cluster, tmp_path) as sides:
        yield sides
