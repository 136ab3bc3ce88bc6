from __future__ import annotations

import subprocess
import sys

import pytest

import heliograph


def test_importing_the_package_loads_nothing_else() -> None:
    script = (
        "import sys, heliograph; "
        "print([name for name in sys.modules if name.startswith(('heliograph.', 'kafka', 'pyspark'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_the_client_is_found_in_the_package() -> None:
    from heliograph.mirror_client import MirrorClient

    assert heliograph.MirrorClient is MirrorClient


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Mirror'"):
        _ = heliograph.Mirror  # type: ignore[attr-defined]
