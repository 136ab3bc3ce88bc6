"""A node: containerd and a kubelet, with pods on a bridge of their own. Two of them run on one machine."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from containers.shell import run
from kubernetes_lab.control_plane import free_port
from kubernetes_lab.processes import Processes

PAUSE = "localhost/pause:1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    number: int
    folder: Path
    programs: Path
    kubeconfig: Path

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def _socket(self) -> Path:
        return self.folder / "containerd.sock"

    def start(self, processes: Processes) -> None:
        """Returns when containerd answers; the kubelet registers the node soon after."""
        self.folder.mkdir(parents=True)
        (self.folder / "cni").mkdir()
        (self.folder / "cni" / "10-bridge.conflist").write_text(json.dumps(self._network()))
        (self.folder / "containerd.toml").write_text(self._containerd())
        (self.folder / "kubelet.yaml").write_text(yaml.safe_dump(self._kubelet()))
        containerd = [str(self.programs / "containerd"), f"--config={self.folder}/containerd.toml"]
        processes.start(f"containerd-{self.number}", containerd)
        processes.wait("containerd", lambda: self._answers("version"))

    def start_kubelet(self, processes: Processes) -> None:
        command = [
            str(self.programs / "kubelet"),
            f"--config={self.folder / 'kubelet.yaml'}",
            f"--kubeconfig={self.kubeconfig}",
            f"--hostname-override={self.name}",
            f"--root-dir={self.folder / 'kubelet'}",
        ]
        processes.start(f"kubelet-{self.number}", command)

    def load(self, archive: Path) -> None:
        """Images are loaded from archives: there is no registry."""
        self._ctr("images", "import", str(archive))

    def clean_up(self) -> None:
        """Containers outlive containerd, and their mounts keep the folder."""
        for task in self._list("tasks"):
            self._try("tasks", "kill", "-s", "SIGKILL", task)
        for container in self._list("containers"):
            self._try("tasks", "rm", "-f", container)
            self._try("containers", "rm", container)

    def remove_mounts(self) -> None:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        for line in reversed(mounts):
            if (place := line.split()[1]).startswith(str(self.folder)):
                subprocess.run(["umount", "-l", place], capture_output=True)
        subprocess.run(["ip", "link", "delete", self._bridge], capture_output=True)

    @property
    def _bridge(self) -> str:
        return f"heliograph{self.number}"

    def _list(self, kind: str) -> list[str]:
        done = subprocess.run(self._command(kind, "ls", "-q"), capture_output=True, text=True)
        return done.stdout.split()

    def _try(self, *arguments: str) -> None:
        subprocess.run(self._command(*arguments), capture_output=True)

    def _answers(self, *arguments: str) -> bool:
        return subprocess.run(self._command(*arguments), capture_output=True).returncode == 0

    def _ctr(self, *arguments: str) -> None:
        run(self._command(*arguments))

    def _command(self, *arguments: str) -> list[str]:
        return [str(self.programs / "ctr"), "-a", str(self._socket), "-n", "k8s.io", *arguments]

    def _network(self) -> dict[str, object]:
        bridge = {
            "type": "bridge",
            "bridge": self._bridge,
            "isGateway": True,
            "ipMasq": True,
            "hairpinMode": True,
            "ipam": {
                "type": "host-local",
                "dataDir": str(self.folder / "addresses"),
                "ranges": [[{"subnet": f"10.244.{self.number}.0/24"}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        }
        return {"cniVersion": "0.4.0", "name": self._bridge, "plugins": [bridge]}

    def _containerd(self) -> str:
        cri = 'plugins."io.containerd.grpc.v1.cri"'
        return f"""version = 2
root = "{self.folder}/root"
state = "{self.folder}/state"
[grpc]
  address = "{self._socket}"
[{cri}]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_port = "{free_port()}"
  [{cri}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{self.folder}/cni"
  [{cri}.containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [{cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
"""

    def _kubelet(self) -> dict[str, object]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": free_port(),
            "healthzPort": free_port(),
            "readOnlyPort": 0,
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._bridge}",
            "cgroupsPerQOS": False,
            "enforceNodeAllocatable": [],
            "failCgroupV1": False,
            "failSwapOn": False,
            "oomScoreAdj": 0,
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "podLogsDir": f"{self.folder}/pod-logs",
            "resolvConf": "/etc/resolv.conf",
            "makeIPTablesUtilChains": False,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "localStorageCapacityIsolation": False,
            "nodeStatusUpdateFrequency": "4s",
        }
