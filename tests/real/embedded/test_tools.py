from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.embedded.jars import kafka_jars
from heliograph.embedded.tools import SHORT_LIVED, TOOL_NAMES, mirror_maker_command, tool_command
from heliograph.machine.java import require_java


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def test_a_cluster_has_the_feature_levels_that_a_formatted_one_has(
    source_cluster: Cluster, tmp_path: Path
) -> None:
    config = tmp_path / "server.properties"
    config.write_text(
        (source_cluster.folder / "node-1" / "server.properties").read_text()
        + f"\nlog.dirs={tmp_path / 'data'}\n"
    )
    storage = [
        str(require_java()),
        *SHORT_LIVED,
        "-cp",
        f"{kafka_jars()}/*",
        "kafka.tools.StorageTool",
    ]
    formatted = run([*storage, "format", "-t", source_cluster.cluster_id, "-c", str(config)])
    expected = re.findall(r"name='(\S+)', featureLevel=(\d+)", formatted.stdout)

    described = run(
        tool_command(
            "kafka-features",
            *("--bootstrap-server", source_cluster.bootstrap_servers, "describe"),
            jvm_args=SHORT_LIVED,
        )
    ).stdout

    found = dict(re.findall(r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)", described))
    assert ("transaction.version", "2") in expected
    for feature, level in expected:
        if feature != "metadata.version":  # shown by its name there
            assert found[feature] == level
    assert found["metadata.version"].startswith("4.3")


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_every_tool_has_its_class_in_the_jars(name: str) -> None:
    done = run(tool_command(name, "--help", jvm_args=SHORT_LIVED))

    assert "ClassNotFoundException" not in done.stderr
    assert "usage" in (done.stdout + done.stderr).lower() or "Option" in done.stdout + done.stderr


def test_the_real_mirror_maker_is_complete_enough_to_ask_for_its_file(tmp_path: Path) -> None:
    done = run(mirror_maker_command(tmp_path / "missing", log=tmp_path / "mm2.log", heap="64m"))

    assert done.returncode == 255
    assert "usage: connect-mirror-maker" in done.stderr
