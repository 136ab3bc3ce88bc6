"""The whole lab: a control plane, nodes, images on them, and two brokers outside that pods reach."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from containers.counting import machine_address
from containers.errors import LabError
from containers.images import TAG, exists
from containers.shell import run
from harness.cluster_side import ClusterSide, running_clusters
from heliograph.embedded import Cluster, Listener
from kubernetes_lab.binaries import environment, folder, programs
from kubernetes_lab.control_plane import ControlPlane
from kubernetes_lab.kubectl import Kubectl, wait_for
from kubernetes_lab.node import PAUSE, Node
from kubernetes_lab.processes import Processes

#: The same image under another tag: what an upgrade replaces the first by.
UPGRADED = "localhost/heliograph:upgraded"
_NODES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    folder: Path
    kubectl: Kubectl
    source: Cluster
    target: Cluster
    url: str

    @property
    def here(self) -> ClusterSide:
        return ClusterSide(lambda: self.source.bootstrap_servers)

    @property
    def there(self) -> ClusterSide:
        return ClusterSide(lambda: self.target.bootstrap_servers)


@contextmanager
def running_lab(nodes: int = _NODES) -> Iterator[Lab]:
    """Until the block ends; then nothing of it is left on the machine. Raises LabError."""
    if not exists(TAG):
        raise LabError(f"{TAG}: not built; build it first: make image ARGS=--build")
    found, address = programs(), machine_address()
    place = Path(tempfile.mkdtemp(prefix="heliograph-lab-"))
    processes = Processes(place, environment(found))
    listeners = (Listener(host=address),)
    source, target = (Cluster(name, listeners=listeners) for name in ("source", "target"))
    started: list[Node] = []
    networks = pod_networks()
    try:
        with running_clusters(source, target):
            plane = ControlPlane(place, found, processes, address)
            print(f"API server ready after {plane.start():.1f} s", flush=True)
            kubectl = Kubectl(found, plane.kubeconfig)
            for number in range(1, nodes + 1):
                node = Node(
                    number=number,
                    folder=place / f"node-{number}",
                    programs=found,
                    kubeconfig=plane.kubeconfig,
                )
                started.append(node)
                node.start(processes)
            _load(started, place)
            for node in started:
                node.start_kubelet(processes)
            wait_for("nodes ready", lambda: _ready(kubectl) == nodes)
            yield Lab(folder=place, kubectl=kubectl, source=source, target=target, url=plane.url)
    finally:
        _end(processes, started, place)
        for name in pod_networks() - networks:
            run(["ip", "netns", "delete", name])


def pod_networks() -> set[str]:
    """Of the pods of any containerd. Those of the lab would outlive it, with their interfaces."""
    names = run(["ip", "netns", "list"]).split()
    return {name for name in names if name.startswith("cni-")}


def _load(nodes: Sequence[Node], place: Path) -> None:
    run(["podman", "tag", TAG, UPGRADED])
    archive = place / "images.tar"
    run(["podman", "save", "-m", "--format", "docker-archive", "-o", archive, TAG, UPGRADED])
    pause = _pause_image(place)
    for node in nodes:
        node.load(archive)
        node.load(pause)
    archive.unlink()


def _pause_image(place: Path) -> Path:
    """The image of the container that holds a pod's network: a program that waits."""
    archive, layer = place / "pause.tar", place / "pause-layer.tar"
    run(["tar", "-cf", layer, "-C", folder() / "bin", "pause"])
    run(["podman", "import", "--change", 'ENTRYPOINT ["/pause"]', layer, PAUSE])
    run(["podman", "save", "--format", "docker-archive", "-o", archive, PAUSE])
    return archive


def _ready(kubectl: Kubectl) -> int:
    conditions = [
        {each["type"]: each["status"] for each in node["status"].get("conditions", ())}
        for node in kubectl.get("nodes")["items"]
    ]
    return sum(each.get("Ready") == "True" for each in conditions)


def _end(processes: Processes, nodes: Sequence[Node], place: Path) -> None:
    """Containers first: without containerd nothing could end them."""
    for node in nodes:
        node.clean_up()
    processes.stop()
    for node in nodes:
        node.remove_mounts()
    shutil.rmtree(place, ignore_errors=True)
