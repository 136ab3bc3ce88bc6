"""Prints the part of requirements.lock that an image needs: runtime_lock.py LOCK PYPROJECT EXTRA… | --build

The dependencies of the package and of the named extras, each with its digests; with --build those of the
build of the wheel. Names that the lock does not have are an error.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from sbom import _name, direct, read_lock, required

_BUILD = ("hatchling",)
_PIN = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)


def runtime_lock(lock: str, project: dict[str, object], extras: Sequence[str]) -> str:
    """Raises KeyError for an extra that the project has not, ValueError for one that is not locked."""
    optional = project["project"]["optional-dependencies"]  # type: ignore[index]
    roots = direct(project) | {_name(each) for extra in extras for each in optional[extra]}
    return part(lock, roots)


def part(lock: str, roots: set[str]) -> str:
    packages = read_lock(lock)
    if missing := roots - {each.name for each in packages}:
        raise ValueError(
            f"requirements.lock: {', '.join(sorted(missing))}: not locked; run make lock"
        )
    wanted = required(packages, roots)
    blocks = _PIN.split(lock)
    return "".join(block for block in blocks if block.partition("==")[0] in wanted)


def main(lock: str, pyproject: str, *extras: str) -> None:
    text, project = Path(lock).read_text(), tomllib.loads(Path(pyproject).read_text())
    is_build = extras == ("--build",)
    sys.stdout.write(part(text, set(_BUILD)) if is_build else runtime_lock(text, project, extras))


if __name__ == "__main__":
    main(*sys.argv[1:])
