"""The command as a user gives it: in a process of its own, or, where nothing is started, in this one."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

from heliograph.cli.main import main
from support.waiting import PATIENCE_SECONDS

Done = subprocess.CompletedProcess[str]


def heliograph(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Done:
    command = [sys.executable, "-m", "heliograph", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env=environment,
    )


def heliograph_here(*arguments: str | Path) -> Done:
    """Without the second that a new interpreter takes."""
    argv = ["heliograph", *map(str, arguments)]
    said, complained = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        try:
            main()
        except SystemExit as e:
            code = e.code
    assert isinstance(code, int), code
    return Done(argv, code, said.getvalue(), complained.getvalue())
