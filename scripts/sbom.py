"""Prints a software bill of materials (CycloneDX 1.6, JSON) of requirements.lock.

Packages of an installation have the scope "required", those for development only "excluded". Versions,
digests and dependencies come from the lock. The same lock gives the same bytes, so that two documents can be
compared.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass
class Package:
    """`via`: the packages that need it; also "heliograph (pyproject.toml)" and its groups, as uv writes
    them."""

    name: str
    version: str
    hashes: list[str] = field(default_factory=list)
    via: list[str] = field(default_factory=list)

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def read_lock(text: str) -> list[Package]:
    packages: list[Package] = []
    in_via = False
    for line in text.splitlines():
        if pin := _PIN.match(line):
            packages.append(Package(pin[1], pin[2]))
            in_via = False
        elif hashed := _HASH.search(line):
            packages[-1].hashes.append(hashed[1])
        elif line.strip().startswith("# via"):
            in_via = True
            packages[-1].via += filter(None, [line.strip().removeprefix("# via").strip()])
        elif in_via and line.strip().startswith("#"):
            packages[-1].via.append(line.strip().lstrip("# ").strip())
    return packages


def direct(project: dict[str, Any]) -> set[str]:
    """Names of the dependencies in pyproject.toml, without extras and groups."""
    return {_name(text) for text in project["project"]["dependencies"]}


def _name(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def required(packages: list[Package], roots: set[str]) -> set[str]:
    """The roots and everything that they need."""
    needs: dict[str, set[str]] = {}
    for package in packages:
        for by in package.via:
            needs.setdefault(_name(by), set()).add(package.name)
    found: set[str] = set()
    waiting = {package.name for package in packages if package.name in roots}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= needs.get(name, set()) - found
    return found


def document(lock: str, project: dict[str, Any], version: str) -> dict[str, Any]:
    packages = read_lock(lock)
    roots = direct(project)
    runtime = required(packages, roots)
    product = f"pkg:pypi/heliograph@{version}"
    purls = {package.name: package.purl for package in packages}
    depends: dict[str, set[str]] = {product: {purls[name] for name in roots if name in purls}}
    for package in packages:
        depends.setdefault(package.purl, set())
        for by in map(_name, package.via):
            if by in purls and by != package.name:
                depends.setdefault(purls[by], set()).add(package.purl)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, product + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "heliograph",
                "version": version,
                "purl": product,
                "licenses": [{"license": {"id": project["project"]["license"]}}],
            },
            "properties": [{"name": "heliograph:source", "value": "requirements.lock"}],
        },
        "components": [_component(package, package.name in runtime) for package in packages],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(on)} for ref, on in sorted(depends.items())
        ],
    }


def _component(package: Package, is_required: bool) -> dict[str, Any]:
    """Every file of a release has its own digest, listed under its distribution."""
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "scope": "required" if is_required else "excluded",
        "externalReferences": [
            {
                "type": "distribution",
                "url": package.purl,
                "hashes": [{"alg": "SHA-256", "content": each} for each in package.hashes],
            }
        ],
    }


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    source = (ROOT / "src" / "heliograph" / "__init__.py").read_text()
    version = re.search(r'__version__ = "([^"]+)"', source)
    assert version is not None
    lock = (ROOT / "requirements.lock").read_text()
    sys.stdout.write(json.dumps(document(lock, project, version[1]), indent=1) + "\n")


if __name__ == "__main__":
    main()
