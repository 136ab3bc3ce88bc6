"""The bill of materials, the audit and the lock file."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from cyclonedx.model.bom import Bom

from support.repository import ROOT


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def printed(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    done = printed("scripts/sbom.py")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_bill_is_cyclonedx(bill: dict[str, Any]) -> None:
    bom = Bom.from_json(bill)

    assert bom.validate()
    assert len(bom.components) == len(bill["components"])


def test_the_bill_has_every_package_of_the_lock_with_its_digests(bill: dict[str, Any]) -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)(?:\[\S+\])?==([^\s;\\]+)", lock, re.MULTILINE))

    assert {each["name"]: each["version"] for each in bill["components"]} == pinned
    for each in bill["components"]:
        (reference,) = each["externalReferences"]
        assert reference["hashes"], each["name"]
        assert all(digest["content"] in lock for digest in reference["hashes"])


def test_what_only_development_needs_is_told_apart(bill: dict[str, Any]) -> None:
    scopes = {each["name"]: each["scope"] for each in bill["components"]}

    assert {scopes[name] for name in ("pyspark", "py4j", "starlette", "h11", "cffi")} == {
        "required"
    }
    assert {scopes[name] for name in ("pytest", "mypy", "pip-audit", "matplotlib")} == {"excluded"}


def test_every_dependency_is_a_component(bill: dict[str, Any]) -> None:
    known = {each["bom-ref"] for each in bill["components"]}
    known.add(bill["metadata"]["component"]["bom-ref"])
    named = {each["ref"] for each in bill["dependencies"]}
    named.update(on for each in bill["dependencies"] for on in each["dependsOn"])

    assert named == known


def test_an_advisory_service_that_is_out_of_reach_is_said_and_fails_no_build() -> None:
    unreachable = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}

    lenient = printed("scripts/audit.py", **unreachable)
    strict = printed("scripts/audit.py", "--strict", **unreachable)

    assert (lenient.returncode, strict.returncode) == (0, 2)
    for each in (lenient, strict):
        assert each.stdout.startswith("audit: SKIPPED: the advisory service cannot be reached")
        assert "NOTHING was audited" in each.stdout


@pytest.mark.parametrize(
    ("dependencies", "code", "words"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "1 packages audited"),
        ([{"name": "a", "skip_reason": "not found"}], 0, "NOTHING was audited"),
        (
            [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "…"}],
            0,
            "not audited, unknown to the advisory service: b",
        ),
        (
            [
                {
                    "name": "a",
                    "version": "1",
                    "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2"]}],
                }
            ],
            1,
            "VULNERABLE: a 1: PYSEC-1, CVE-1; fixed in 2",
        ),
    ],
)
def test_the_verdict_of_an_audit(
    capsys: pytest.CaptureFixture[str],
    dependencies: list[dict[str, Any]],
    code: int,
    words: str,
) -> None:
    assert script("audit").verdict(dependencies, 0) == code
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-java.lock"])
def test_the_lock_names_no_index_and_has_digests_for_all(name: str) -> None:
    lock = (ROOT / name).read_text()

    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", lock)
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=\S+==)", lock))
