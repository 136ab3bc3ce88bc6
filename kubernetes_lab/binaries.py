"""Programs of the control plane and of nodes, built once into the cache of this user.

Kubernetes and Helm are built from the module proxy of Go; etcd, containerd and runc are those of Debian. That
takes about ten minutes on two cores from nothing, and 6 GB of the cache of Go.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from containers.errors import LabError
from containers.shell import require, run
from heliograph.machine.cache import build_once, cache_folder

KUBERNETES, STAGING, HELM = "v1.36.3", "v0.36.3", "v4.3.1"
_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl")
#: Debian's package of each program.
_DEBIAN = {
    "etcd": "etcd-server",
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
}
_CNI = Path("/usr/lib/cni")
_PAUSE = """package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
"""
#: One package at a time: the linker of one of them needs 2 GB.
_FLAGS = "-p=1 -trimpath -buildvcs=false -mod=mod"


def folder() -> Path:
    return cache_folder() / "kubernetes"


def programs() -> Path:
    """The folder with all of them; builds and downloads what is missing. Raises LabError."""
    found = folder() / "bin"
    found.mkdir(parents=True, exist_ok=True)
    for name in _PROGRAMS:
        if not (found / name).exists():
            _build(found / name, _kubernetes_module(), f"k8s.io/kubernetes/cmd/{name}", _version())
    if not (found / "helm").exists():
        _build(found / "helm", _helm_module(), "helm.sh/helm/v4/cmd/helm")
    if not (found / "pause").exists():
        _build(found / "pause", _pause_module(), ".")
    for name, package in _DEBIAN.items():
        if not (found / name).exists():
            _from_debian(found, name, package)
    if not (_CNI / "bridge").exists():
        raise LabError(
            f"{_CNI}/bridge: not found; install it, on Debian: apt-get install containernetworking-plugins"
        )
    return found


def environment(found: Path) -> Mapping[str, str]:
    """containerd looks for its shim and for runc on the PATH."""
    return {**os.environ, "PATH": f"{found}:{os.environ['PATH']}:/usr/sbin:/sbin"}


def _version() -> Sequence[str]:
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    base = "-X k8s.io/component-base/version."
    return (f"{base}gitVersion={KUBERNETES}", f"{base}gitMajor={major}", f"{base}gitMinor={minor}")


def _build(program: Path, module: Path, package: str, flags: Sequence[str] = ()) -> None:
    print(f"building {program.name} …", flush=True)
    fresh = program.with_suffix(".part")
    command: list[str | Path] = [
        "go",
        "build",
        f"-ldflags=-s -w {' '.join(flags)}",
        "-o",
        fresh,
        package,
    ]
    run(command, folder=module, environment=_go())
    fresh.rename(program)


def _go() -> Mapping[str, str]:
    require("go", package="golang")
    return {**os.environ, "GOFLAGS": _FLAGS, "CGO_ENABLED": "0"}


def _kubernetes_module() -> Path:
    """A module with Kubernetes' own requirements. Its libraries are published as modules of their own, while
    its go.mod replaces each by a folder that is not in the module."""

    def make(made: Path) -> None:
        run(["go", "mod", "download", f"k8s.io/kubernetes@{KUBERNETES}"], environment=_go())
        cache = run(["go", "env", "GOMODCACHE"]).strip()
        theirs = Path(cache) / f"k8s.io/kubernetes@{KUBERNETES}"
        text = (theirs / "go.mod").read_text().replace("module k8s.io/kubernetes", "module lab", 1)
        lines = [
            f"{line.partition('=>')[0]}=> {line.split()[0]} {STAGING}"
            if "=> ./staging/src/" in line
            else line
            for line in text.splitlines()
        ]
        (made / "go.mod").write_text("\n".join(lines) + "\n")
        shutil.copy(theirs / "go.sum", made / "go.sum")
        (made / "go.sum").chmod(0o644)
        run(
            ["go", "mod", "edit", f"-require=k8s.io/kubernetes@{KUBERNETES}"],
            folder=made,
            environment=_go(),
        )

    return build_once(folder() / f"kubernetes-{KUBERNETES}", make)


def _helm_module() -> Path:
    def make(made: Path) -> None:
        run(["go", "mod", "init", "lab"], folder=made, environment=_go())
        run(["go", "get", f"helm.sh/helm/v4@{HELM}"], folder=made, environment=_go())

    return build_once(folder() / f"helm-{HELM}", make)


def _pause_module() -> Path:
    def make(made: Path) -> None:
        run(["go", "mod", "init", "pause"], folder=made, environment=_go())
        (made / "main.go").write_text(_PAUSE)

    return build_once(folder() / "pause-module", make)


def _from_debian(found: Path, name: str, package: str) -> None:
    """From the PATH, or from the package of Debian, unpacked only: its installation would start daemons."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if (installed := shutil.which(name, path=path)) is not None:
        (found / name).symlink_to(installed)
        return
    require("apt-get", "dpkg-deb", package="apt dpkg")

    def make(made: Path) -> None:
        run(["apt-get", "download", package], folder=made)
        run(["dpkg-deb", "-x", next(made.glob("*.deb")), made])

    unpacked = build_once(folder() / package, make)
    program = next(iter(unpacked.glob(f"usr/*bin/{name}")), None)
    if program is None:
        raise LabError(f"{package}: Debian's package has no {name}")
    (found / name).symlink_to(program)
