"""The units of deploy/systemd, as systemd itself reads them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.repository import ROOT

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="systemd-analyze is not installed: apt-get install systemd",
)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit_without_a_word(unit: Path, tmp_path: Path) -> None:
    copied = tmp_path / unit.name
    # It also checks that the command is there.
    copied.write_text(unit.read_text().replace("/opt/heliograph", sys.prefix))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copied)],
        capture_output=True,
        text=True,
        check=False,
    )

    ours = [line for line in done.stderr.splitlines() if "heliograph" in line]
    assert (done.returncode, ours) == (0, [])


def test_each_unit_starts_a_command_that_there_is() -> None:
    starts = {
        unit.name: line.removeprefix("ExecStart=").split()
        for unit in UNITS
        for line in unit.read_text().splitlines()
        if line.startswith("ExecStart=")
    }

    assert {name: words[:2] for name, words in starts.items()} == {
        "heliograph-worker.service": ["/opt/heliograph/bin/heliograph", "serve"],
        "heliograph.service": ["/opt/heliograph/bin/heliograph", "run"],
    }
