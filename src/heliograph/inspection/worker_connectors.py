"""Reads the connectors of a Connect worker from its config topic, as flows of a mirror. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.connectors.connector_class import connector_class
from heliograph.config.connectors.read_connectors import assemble, read_connector
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import NotFound
from heliograph.mm2.connect.cluster_state import ConfigState
from heliograph.mm2.connect.configs import TargetState, read_config_record
from heliograph.mm2.malformed import Malformed

#: Short, since a person waits for the answer.
_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConnectors:
    """`mirror`: the connectors that should run. `idle`: why others do not, by name."""

    mirror: MirrorConfig
    idle: Mapping[str, str]


def read_worker_connectors(worker: WorkerConfig, client_id: str) -> WorkerConnectors:
    """Raises ClientError, or NotFound if there is no such topic."""
    topic = worker.config_topic.name
    client = ClusterClient(worker.cluster, client_id=client_id, timeout=_TIMEOUT_SECONDS)
    with closing(client) as cluster:
        tail = LogTail(cluster, topic)
        records = tail.read_new(patience=_TIMEOUT_SECONDS)
    if tail.missing:
        raise NotFound(
            f"{worker.name}: {topic} (config.storage.topic) does not exist on "
            f"{', '.join(worker.cluster.bootstrap_servers)}, or may not be described; no worker has run with "
            f"this file. Start one: heliograph serve {worker.name}"
        )
    state = ConfigState()
    for record in records:
        found = read_config_record(record.key, record.value)
        if not isinstance(found, Malformed):
            state.apply(found)
    return connectors_of(state, worker)


def connectors_of(state: ConfigState, worker: WorkerConfig) -> WorkerConnectors:
    idle: dict[str, str] = {}
    wanted = []
    for name, config in sorted(state.configs.items()):
        kind = config.get("connector.class", "")
        if connector_class(kind) is None:
            idle[name] = (
                f"{kind or 'without connector.class'}: not one of MirrorMaker 2's connectors"
            )
        elif state.target(name) is not TargetState.STARTED:
            idle[name] = f"its state is {state.target(name)}"
        else:
            # Users of REST may have written it: it may name only what the worker permits.
            wanted.append(read_connector(name, config, worker, worker.permitted))
    return WorkerConnectors(mirror=assemble(wanted, worker), idle=idle)
