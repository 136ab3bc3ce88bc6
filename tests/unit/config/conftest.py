from __future__ import annotations

from pathlib import Path

import pytest

from support.configurations.mm2_files import Reader


@pytest.fixture
def mm2(tmp_path: Path) -> Reader:
    return Reader(tmp_path)
