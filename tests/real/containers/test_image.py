"""The short form of `make image`: the image that was built here refuses to start without a configuration.

Skipped where no image was built: building one takes minutes.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from containers.hardened import run_once
from containers.images import TAG

pytestmark = pytest.mark.real


def _reason_to_skip() -> str | None:
    if shutil.which("buildah") is None or shutil.which("podman") is None:
        return "buildah and podman are not installed"
    found = subprocess.run(["podman", "image", "exists", TAG], capture_output=True)
    return None if found.returncode == 0 else f"{TAG} is not built: make image ARGS=--build"


def test_without_a_configuration_the_hardened_image_says_what_to_mount() -> None:
    if reason := _reason_to_skip():
        pytest.skip(reason)

    done = run_once()

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: configuration: expected /etc/heliograph/mm2.properties")
