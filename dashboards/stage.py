"""Two embedded clusters, a live mirror between them and what its faults need.

The target's listener has TLS, with a certificate that expires within ten days at first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from harness.certificates import Authority
from harness.cluster_side import QUIET, TIMEOUT_SECONDS, ClusterSide, running_clusters
from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from harness.processes import running_process
from heliograph.embedded import Cluster, Listener, SecurityProtocol, Tls
from heliograph.embedded.ports import free_port

SOURCE, TARGET = "east", "west"
FLOW = f"{SOURCE}->{TARGET}"
#: Partitions of topics of the source.
TOPICS = {"orders": 3, "payments": 1, "large": 1, "doomed": 1, "empty": 1}
#: As Strimzi's PodMonitor and Prometheus' operator label what they scrape in Kubernetes.
NAME = "proof"
LABELS = {
    "strimzi_io_kind": "KafkaMirrorMaker2",
    "strimzi_io_cluster": NAME,
    "namespace": "mirrors",
    "kubernetes_pod_name": f"{NAME}-mirrormaker2-0",
    "pod": f"{NAME}-mirrormaker2-0",
    "container": f"{NAME}-mirrormaker2",
}
#: Bytes that the mirror copies in a second at most; the steady traffic is far below.
THROTTLE = 400_000
_TLS = "SECURE"


class Stage:
    def __init__(self, folder: Path, master: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._arguments = () if master is None else ("--master", master)
        self._authority = Authority("proof")
        self.issue(timedelta(days=10))
        (folder / "ca.pem").write_text(self._authority.identity.pem)
        secure = Listener(
            name=_TLS, protocol=SecurityProtocol.SSL, tls=Tls(keystore=folder / "broker.pem")
        )
        self.clusters = (Cluster(SOURCE), Cluster(TARGET, listeners=(Listener(), secure)))
        self.source, self.target = (
            ClusterSide(lambda cluster=cluster: cluster.bootstrap_servers)  # type: ignore[misc]
            for cluster in self.clusters
        )
        self.port = free_port()
        self._mirror = contextlib.ExitStack()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def target_cluster(self) -> Cluster:
        return self.clusters[1]

    def issue(self, life: timedelta) -> None:
        """A new certificate of the target's broker, which it reads when it starts."""
        identity = self._authority.issue("broker", ["localhost", "127.0.0.1"], life)
        (self.folder / "broker.pem").write_text(identity.key() + identity.pem)

    # ── the mirror ───────────────────────────────────────────────────────────────────────────────

    def properties(self) -> Mapping[str, str]:
        west = self.target_cluster.bootstrap(_TLS)
        return {
            **mirror_properties(
                (SOURCE, self.clusters[0].bootstrap_servers),
                (TARGET, west),
                ",".join(TOPICS),
                replicas=1,
            ),
            f"{TARGET}.security.protocol": "SSL",
            f"{TARGET}.ssl.truststore.type": "PEM",
            f"{TARGET}.ssl.truststore.location": str((self.folder / "ca.pem").absolute()),
            "listeners": f"http://127.0.0.1:{free_port()}",
            "metrics.listener": f"http://127.0.0.1:{self.port}",
            "metrics.names": "strimzi-jmx,strimzi-reporter,msk",
            "metrics.labels": ",".join(f"{k}={v}" for k, v in LABELS.items()),
            "emit.checkpoints.interval.seconds": "2",
            "sync.group.offsets.enabled": "true",
            "sync.group.offsets.interval.seconds": "2",
            "throttle.bytes.per.second": str(THROTTLE),
            "offset.flush.interval.ms": "2000",
            "refresh.topics.interval.seconds": "5",
            "refresh.groups.interval.seconds": "5",
            "sync.topic.configs.enabled": "false",  # or it would end faults
        }

    def start_mirror(self) -> None:
        file = write_mirror_file(self.folder, self.properties())
        running = running_process(
            heliograph_command("run", str(file), *self._arguments),
            self.folder / "mirror.log",
            _environment(),
        )
        self.process = self._mirror.enter_context(running)

    def stop_mirror(self) -> None:
        self._mirror.close()
        self.process = None

    def stop_source(self) -> None:
        self.source.forget_admin()
        self.clusters[0].stop_node(1)

    def start_source(self) -> None:
        self.clusters[0].start_node(1)

    # ── what faults change ───────────────────────────────────────────────────────────────────────

    def configure(self, topics: Iterator[str] | list[str], name: str, value: str | None) -> None:
        """A setting of topics of the target; None: the default."""
        kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        resources = [
            ConfigResource(
                ResourceType.TOPIC,
                topic,
                incremental_configs=[ConfigEntry(name, value or "", incremental_operation=kind)],
            )
            for topic in topics
        ]
        for future in self.target.admin.incremental_alter_configs(resources).values():
            future.result(TIMEOUT_SECONDS)

    def commit(self, group: str, topic: str, offset: int) -> None:
        """An offset of a group of the source."""
        servers = self.clusters[0].bootstrap_servers
        consumer = Consumer({"bootstrap.servers": servers, "group.id": group, **QUIET})
        try:
            consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
        finally:
            consumer.close()


def remote(topic: str) -> str:
    return f"{SOURCE}.{topic}"


@contextlib.contextmanager
def staged(folder: Path, master: str | None = None) -> Iterator[Stage]:
    """With topics, and without a mirror yet."""
    stage = Stage(folder, master)
    with running_clusters(*stage.clusters):
        try:
            stage.source.create_topics(NewTopic(name, count, 1) for name, count in TOPICS.items())
            yield stage
        finally:
            stage.stop_mirror()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:1])}
