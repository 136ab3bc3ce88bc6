"""A flow with MM2's defaults, for functions that are asked with scripted clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import FlowConfig


@pytest.fixture
def flow(tmp_path: Path) -> FlowConfig:
    path = tmp_path / "mm2.properties"
    path.write_text(
        "clusters = a, b\na.bootstrap.servers = x:1\nb.bootstrap.servers = y:1\na->b.enabled = true\n"
    )
    return load(path).flows[0]
