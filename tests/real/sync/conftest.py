"""Flows of tests that run no mirror."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from support.flows.sides import Sides, open_sides


@pytest.fixture
def sides(
    request: pytest.FixtureRequest, source_cluster: Cluster, target_cluster: Cluster, tmp_path: Path
) -> Iterator[Sides]:
    with open_sides(request.node.originalname, source_cluster, target_cluster, tmp_path) as sides:
        yield sides
