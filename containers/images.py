"""Builds the image with buildah, from a base of this machine: no registry is needed."""

from __future__ import annotations

import json
from pathlib import Path

from containers.shell import require, run
from heliograph.machine.cache import build_once, cache_folder

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"
TAG = "localhost/heliograph:local"
BASE = "localhost/heliograph-base:bookworm"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
#: As Debian's slim images: no documentation, no translations, no package lists.
_EXCLUDED = ("doc", "man", "locale", "info")


def base() -> str:
    """A minimal Debian, made once by mmdebstrap (about a minute) and kept in the cache of this user."""
    if not exists(BASE):
        require("mmdebstrap", "podman", package="mmdebstrap podman")
        folder = build_once(cache_folder() / "images" / "bookworm", _bootstrap)
        run(["podman", "import", folder / "base.tar", BASE])
    return BASE


def _bootstrap(folder: Path) -> None:
    run(
        [
            "mmdebstrap",
            *("--variant=minbase", "--include=ca-certificates"),
            *(f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in _EXCLUDED),
            '--customize-hook=rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin',
            *("bookworm", folder / "base.tar"),
        ]
    )


def build(base: str = BASE, tag: str = TAG, log: Path | None = None) -> str:
    """The id of the image. The network of the build is this machine's, with its certificates: a proxy that
    signs connections itself has its authority there."""
    require("buildah", package="buildah")
    certificates = ["-v", f"{_CERTIFICATES}:{_CERTIFICATES}:ro"] if _CERTIFICATES.exists() else []
    run(
        [
            *("buildah", "bud", "--format", "docker", "--isolation", "chroot", "--network", "host"),
            *("--pull-never", "--layers", "--build-arg", f"BASE={base}", *certificates),
            *("-f", DOCKERFILE, "-t", tag, ROOT),
        ],
        log=log,
    )
    return run(["podman", "inspect", "--format", "{{.Id}}", tag]).strip()


def exists(tag: str) -> bool:
    names = json.loads(run(["podman", "images", "--format", "json"]) or "[]")
    return any(tag in (each.get("Names") or ()) for each in names)


def size(tag: str = TAG) -> int:
    """Bytes of all layers, unpacked."""
    return int(run(["podman", "inspect", "--format", "{{.Size}}", tag]))


def export(folder: Path, tag: str = TAG) -> Path:
    """The image as an archive that containerd imports."""
    file = folder / "heliograph.tar"
    file.unlink(missing_ok=True)
    run(["podman", "save", "--format", "docker-archive", "-o", file, tag])
    return file
