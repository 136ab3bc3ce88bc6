"""The usage of Kafka's own bin/connect-mirror-maker.sh and bin/connect-distributed.sh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heliograph.cli.kafka_scripts import unused
from support.configurations.mm2_files import BASE
from support.waiting import PATIENCE_SECONDS, eventually

Done = subprocess.CompletedProcess[str]
SCRIPTS = {"mirror_maker": "connect-mirror-maker.sh", "distributed": "connect-distributed.sh"}


def script(name: str, folder: Path, *arguments: str, **environment: str) -> Done:
    code = f"from heliograph.cli.kafka_scripts import {name}; {name}()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_without_arguments_the_usage_is_printed_as_by_kafka(name: str, tmp_path: Path) -> None:
    done = script(name, tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"USAGE: {SCRIPTS[name]} [-daemon] ")


def test_help_is_no_error(tmp_path: Path) -> None:
    done = script("mirror_maker", tmp_path, "--help")
    assert done.returncode == 0
    assert "heliograph run" in done.stdout


def test_arguments_are_those_of_the_command_and_settings_of_a_jvm_are_named_once(
    tmp_path: Path,
) -> None:
    done = script(
        *("mirror_maker", tmp_path, "mm2.properties", "--clusters", "b"), KAFKA_HEAP_OPTS="-Xmx2G"
    )
    assert done.returncode == 2
    assert "mm2.properties" in done.stderr
    assert done.stderr.count("KAFKA_HEAP_OPTS") == 1


def test_only_variables_that_are_set_are_named() -> None:
    assert unused({"KAFKA_OPTS": "", "JMX_PORT": "9999", "LOG_DIR": "logs"}) == ["JMX_PORT"]


def test_a_daemon_does_not_start_with_a_configuration_that_cannot_be_used(tmp_path: Path) -> None:
    done = script("distributed", tmp_path, "-daemon", "missing.properties", LOG_DIR="there/logs")
    assert done.returncode == 2
    assert "missing.properties" in done.stderr
    assert not (tmp_path / "there").exists()


def test_a_daemon_writes_its_output_to_the_log_folder(tmp_path: Path) -> None:
    """An option that does not exist ends it at once."""
    (tmp_path / "mm2.properties").write_text(BASE)
    arguments = ("-daemon", "mm2.properties", "--no-such-option")
    done = script("mirror_maker", tmp_path, *arguments, LOG_DIR="there/logs")
    assert done.returncode == 0
    assert "output in there/logs/mirrorMaker.out" in done.stderr
    output = tmp_path / "there/logs/mirrorMaker.out"
    eventually(output.read_text, lambda text: "--no-such-option" in text)


def test_a_log_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    (tmp_path / "mm2.properties").write_text(BASE)
    done = script("mirror_maker", tmp_path, "-daemon", "mm2.properties")
    assert done.returncode == 1
    assert "LOG_DIR: logs/mirrorMaker.out: cannot be written" in done.stderr
