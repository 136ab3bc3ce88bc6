"""What is installed: the wheel, and the units of systemd."""

from __future__ import annotations

import configparser
import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from heliograph import __version__
from support.repository import ROOT
from support.waiting import PATIENCE_SECONDS

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by hatchling alone, without an index."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    run(command, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done  # type: ignore[no-any-return]


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(
            archive.read(f"heliograph-{__version__}.dist-info/METADATA")
        )


def test_the_wheel_has_the_package_its_man_page_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "heliograph",
        f"heliograph-{__version__}.data",
        f"heliograph-{__version__}.dist-info",
    }
    data = [name for name in names if ".data/" in name]
    assert data == [f"heliograph-{__version__}.data/data/share/man/man1/heliograph.1"]
    tracked = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("heliograph/")} == tracked
    assert f"heliograph-{__version__}.dist-info/licenses/LICENSE" in names
    assert "heliograph/py.typed" in names


def test_no_file_of_the_wheel_names_this_machine(wheel: Path) -> None:
    places = [str(ROOT).encode(), str(Path.home()).encode() + b"/"]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert not [place for place in places if place in content], name


def test_the_metadata_say_what_it_is(wheel: Path) -> None:
    found = metadata(wheel)
    assert (found["Name"], found["Version"]) == ("heliograph", __version__)
    assert found["License-Expression"] == "Apache-2.0"
    assert found["Requires-Python"] == ">=3.11"
    assert "kafka" in found["Keywords"]
    assert "Typing :: Typed" in found.get_all("Classifier", [])
    assert set(found.get_all("Provides-Extra", [])) >= {"aws", "demo", "kerberos"}
    assert found["Description-Content-Type"] == "text/markdown"


def test_an_installed_wheel_has_its_commands(wheel: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile"]
    run([*command, "--prefix", str(tmp_path), "--ignore-installed", str(wheel)])
    (packages,) = tmp_path.glob("lib/python3*/site-packages")
    environment = os.environ | {"PYTHONPATH": str(packages)}

    version = run([str(tmp_path / "bin" / "heliograph"), "--version"], env=environment)
    assert version.stdout == f"heliograph {__version__}\n"
    for name in ("connect-mirror-maker.sh", "connect-distributed.sh"):
        helped = run([str(tmp_path / "bin" / name), "--help"], env=environment)
        assert helped.stdout.startswith(f"usage: {name} [-daemon] ")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_the_command_restricted(unit: Path) -> None:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[method-assign,assignment]
    parsed.read(unit)
    service = dict(parsed["Service"])
    assert re.fullmatch(
        r"/opt/heliograph/bin/heliograph (run|serve) /etc/heliograph/(mm2|worker)\.properties",
        service["ExecStart"],
    )
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == "2"
    assert service["User"] == "heliograph"
    for option in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictSUIDSGID"):
        assert service[option] == "yes", option
    assert service["ProtectSystem"] == "strict"


def test_there_is_a_unit_for_each_way_to_run() -> None:
    assert [unit.name for unit in UNITS] == ["heliograph-worker.service", "heliograph.service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    installed = unit.read_text().replace("/opt/heliograph/bin/heliograph", "/bin/true")
    copy.write_text(installed)
    done = run(["systemd-analyze", "verify", "--man=no", str(copy)])
    assert done.stderr == ""
