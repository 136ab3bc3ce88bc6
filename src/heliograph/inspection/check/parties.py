"""Who connects to which cluster, and what for: the flows, heartbeats and worker of a configuration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.model import ClientKind, ClusterConfig
from heliograph.plan.rights import (
    Need,
    needs_of_flow,
    needs_of_group_flow,
    needs_of_heartbeats,
    needs_of_worker,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """`clusters` by alias, with this party's logins. `flow`: None if it mirrors no topics or groups."""

    name: str
    needs: tuple[Need, ...]
    clusters: Mapping[str, ClusterConfig]
    flow: FlowConfig | None = None

    def cluster(self, alias: str, client: ClientKind) -> ClusterConfig:
        return self.clusters[alias].for_client(client)


@dataclass(slots=True, kw_only=True)
class Login:
    """One way to one cluster: clients with the same addresses and the same security share it."""

    config: ClusterConfig
    clients: tuple[ClientKind, ...]


Key = tuple[str, tuple[str, ...], object]


def key_of(config: ClusterConfig) -> Key:
    return config.alias, config.bootstrap_servers, config.security


def parties_of(config: MirrorConfig) -> list[Party]:
    def party(title: str, name: str, needs: tuple[Need, ...], flow: FlowConfig | None) -> Party:
        clusters = {need.alias: config.cluster(need.alias, name) for need in needs}
        return Party(name=title, needs=needs, clusters=clusters, flow=flow)

    return [
        *(party(flow.name, flow.name, needs_of_flow(flow), flow) for flow in config.flows),
        *(
            party(flow.name, flow.name, needs_of_group_flow(flow), flow)
            for flow in config.group_flows
        ),
        *(
            party(f"heartbeats {pair.name}", pair.name, needs_of_heartbeats(pair), None)
            for pair in config.heartbeats
        ),
    ]


def party_of_worker(worker: WorkerConfig) -> Party:
    topics = (worker.config_topic, worker.offsets_topic, worker.status_topic)
    cluster = worker.cluster
    return Party(
        name=f"worker {worker.group_id}",
        needs=needs_of_worker(topics, cluster.alias, worker.group_id),
        clusters={cluster.alias: cluster},
    )


def logins_of(parties: list[Party]) -> dict[Key, Login]:
    """In the order of the parties, sources first."""
    found: dict[Key, Login] = {}
    for party in parties:
        for need in party.needs:
            config = party.cluster(need.alias, need.client)
            login = found.setdefault(key_of(config), Login(config=config, clients=()))
            if need.client not in login.clients:
                login.clients = (*login.clients, need.client)
    return found
