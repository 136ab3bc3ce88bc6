"""Workers and connectors for tests."""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.connectors.worker import WorkerConfig, worker_of
from heliograph.config.formats.properties import parse_properties

WORKER = """\
bootstrap.servers = eu1:9092
group.id = connect-cluster
config.storage.topic = connect-configs
offset.storage.topic = connect-offsets
status.storage.topic = connect-status
"""
SOURCE = {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "source.cluster.alias": "us",
    "target.cluster.alias": "eu",
    "source.cluster.bootstrap.servers": "us1:9092",
    "target.cluster.bootstrap.servers": "eu1:9092",
}
CHECKPOINT = {**SOURCE, "connector.class": "MirrorCheckpointConnector"}
HEARTBEAT = {**SOURCE, "connector.class": "MirrorHeartbeat"}


def worker(more: str = "", environment: Mapping[str, str] | None = None) -> WorkerConfig:
    return worker_of(parse_properties(WORKER + more, "worker.properties"), environment or {})
