"""etcd, API server, controller manager and scheduler of one cluster, with certificates of their own."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
from pathlib import Path

from containers.shell import run
from harness.certificates import Authority
from kubernetes_lab.processes import Processes

_SERVICES = "10.96.0.0/16"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ControlPlane:
    """Runs in `folder` from `start` until its `processes` are stopped."""

    def __init__(self, folder: Path, programs: Path, processes: Processes, address: str) -> None:
        self._folder, self._programs, self._processes = folder, programs, processes
        self._etcd, self._peer, self._port = free_port(), free_port(), free_port()
        self._token = secrets.token_hex(16)
        self.url = f"https://{address}:{self._port}"
        self._address = address
        self.kubeconfig = folder / "kubeconfig"

    def start(self) -> float:
        """Seconds until the API server was ready."""
        self._write_files()
        self._start_etcd()
        self._start_api_server()
        ready = self._processes.wait("API server ready", self._ready)
        for name in ("kube-controller-manager", "kube-scheduler"):
            self._processes.start(name, [self._programs / name, *self._arguments_of(name)])
        self._processes.wait("default service account", self._has_service_account)
        return ready

    def _write_files(self) -> None:
        (self._folder / "tokens.csv").write_text(f"{self._token},admin,admin,system:masters\n")
        key = self._folder / "sa.key"
        run(["openssl", "genrsa", "-out", key, "2048"])
        run(["openssl", "rsa", "-in", key, "-pubout", "-out", self._folder / "sa.pub"])
        authority = Authority("lab")
        hosts = [self._address, "127.0.0.1", "10.96.0.1", "kubernetes.default.svc"]
        server = authority.issue("kube-apiserver", hosts)
        self._file("ca.crt", authority.identity.pem)
        self._file("api.crt", server.pem)
        self._file("api.key", server.key())
        self._file("kubeconfig", json.dumps(self._config()))

    def _file(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)

    def _config(self) -> dict[str, object]:
        cluster = {"server": self.url, "certificate-authority": str(self._folder / "ca.crt")}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self._token}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
            "current-context": "lab",
        }

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd, self._peer))
        self._processes.start(
            "etcd",
            [
                self._programs / "etcd",
                *("--data-dir", self._folder / "etcd", "--unsafe-no-fsync"),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", f"default={peer}"),
            ],
        )

    def _start_api_server(self) -> None:
        folder = self._folder
        self._processes.start(
            "kube-apiserver",
            [
                self._programs / "kube-apiserver",
                f"--etcd-servers=http://127.0.0.1:{self._etcd}",
                f"--bind-address={self._address}",
                f"--advertise-address={self._address}",
                f"--secure-port={self._port}",
                f"--tls-cert-file={folder / 'api.crt'}",
                f"--tls-private-key-file={folder / 'api.key'}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={folder / 'sa.pub'}",
                f"--service-account-signing-key-file={folder / 'sa.key'}",
                f"--token-auth-file={folder / 'tokens.csv'}",
                "--authorization-mode=RBAC",
                f"--service-cluster-ip-range={_SERVICES}",
                "--endpoint-reconciler-type=none",
                # Spark's client waits for ever for bookmarks that Debian's etcd 3.4 does not send.
                "--feature-gates=WatchList=false",
            ],
        )

    def _arguments_of(self, name: str) -> list[str]:
        port = free_port()
        common = [
            f"--kubeconfig={self.kubeconfig}",
            f"--secure-port={port}",
            "--leader-elect=false",
        ]
        if name == "kube-scheduler":
            return common
        return [
            *common,
            f"--root-ca-file={self._folder / 'ca.crt'}",
            f"--service-account-private-key-file={self._folder / 'sa.key'}",
            "--node-monitor-grace-period=20s",
        ]

    def _ready(self) -> bool:
        return self._answers("get", "--raw", "/readyz")

    def _has_service_account(self) -> bool:
        return self._answers("get", "serviceaccount", "default")

    def _answers(self, *arguments: str) -> bool:
        command = [self._programs / "kubectl", "--kubeconfig", self.kubeconfig, *arguments]
        return subprocess.run([str(each) for each in command], capture_output=True).returncode == 0
