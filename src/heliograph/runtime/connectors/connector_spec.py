"""The connectors that a service runs: each can be started, stopped and changed on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from heliograph.config.mirror_config import FlowConfig, FlowSetup, Heartbeats, MirrorConfig
from heliograph.model import ClusterConfig


class Part(StrEnum):
    """The class of the connector."""

    COPY = "MirrorSourceConnector"
    CHECKPOINTS = "MirrorCheckpointConnector"
    HEARTBEATS = "MirrorHeartbeatConnector"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSpec:
    """One connector between a pair of clusters; a new value with the same `name` replaces it.

    `settings` are those of a flow or of a pair's heartbeats, `clusters` the clusters it uses. A restarted
    connector has another `generation`.
    """

    name: str
    part: Part
    settings: FlowConfig | Heartbeats
    clusters: tuple[ClusterConfig, ...]
    generation: int = 0

    @property
    def pair(self) -> tuple[str, str]:
        return self.settings.source, self.settings.target

    @property
    def connector_name(self) -> str:
        """The name in the keys of its stored offsets and in its client ids."""
        if self.part is Part.CHECKPOINTS and (checkpoints := self.flow().checkpoints) is not None:
            return checkpoints.connector_name
        return self.settings.connector_name

    @property
    def area(self) -> str:
        """The name of its problems in `Problems`: `flow us->eu`."""
        if isinstance(self.settings, FlowConfig):
            return f"flow {self.settings.name}"
        return f"{self.settings.name}: heartbeats"

    def cluster(self, alias: str) -> ClusterConfig:
        return next(cluster for cluster in self.clusters if cluster.alias == alias)

    def is_between_clusters_of(self, other: ConnectorSpec) -> bool:
        """Compares bootstrap servers, since connectors may use the same alias for different clusters."""
        return self.pair == other.pair and all(
            not set(here.bootstrap_servers).isdisjoint(there.bootstrap_servers)
            for alias in self.pair
            if (here := self._reaches(alias)) and (there := other._reaches(alias))
        )

    def _reaches(self, alias: str) -> ClusterConfig | None:
        """None for the source of heartbeats, which they do not use."""
        return next((cluster for cluster in self.clusters if cluster.alias == alias), None)

    def flow(self) -> FlowConfig:
        assert isinstance(self.settings, FlowConfig)
        return self.settings

    def setup(self) -> FlowSetup:
        flow = self.flow()
        return FlowSetup(
            flow=flow,
            source=self.cluster(flow.source),
            target=self.cluster(flow.target),
            offsets=self.cluster(flow.offsets_alias),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkGroup:
    """Connectors that only one service runs at a time: the one that leads `group_id` on `cluster`.

    `names` are used in log lines; `url` is the REST address of this service, for the other members.
    `assigned`: connectors are assigned during each term; none is carried over from an earlier term.
    """

    group_id: str
    cluster: ClusterConfig
    names: tuple[str, ...]
    jobs: tuple[ConnectorSpec, ...] = ()
    url: str | None = None
    assigned: bool = False


@dataclass(slots=True)
class _Pairs:
    names: list[str] = field(default_factory=list)
    jobs: list[ConnectorSpec] = field(default_factory=list)


def work_groups(config: MirrorConfig) -> list[WorkGroup]:
    """The groups of a configuration: one for each pair of clusters, or one for several pairs with the same
    `group.id`. Aliases of the same cluster count as one: otherwise this service would join the same group
    twice, and each member would wait for the other."""
    found: dict[tuple[frozenset[str], str], _Pairs] = {}
    for job in jobs_of(config):
        cluster = job.cluster(job.settings.offsets_alias)
        key = frozenset(cluster.bootstrap_servers), job.settings.group_id
        pairs = found.setdefault(key, _Pairs())
        name = "->".join(job.pair)
        if name not in pairs.names:
            pairs.names.append(name)
        pairs.jobs.append(job)
    return [
        WorkGroup(
            group_id=group,
            cluster=pairs.jobs[0].cluster(pairs.jobs[0].settings.offsets_alias),
            names=tuple(pairs.names),
            jobs=tuple(pairs.jobs),
        )
        for (_, group), pairs in found.items()
    ]


def jobs_of(config: MirrorConfig) -> list[ConnectorSpec]:
    """Named `us->eu.MirrorSourceConnector`, as in Strimzi, since names must differ by flow. Connectors that
    have a name keep it."""
    jobs = []
    for flow in config.flows:
        jobs.append(_job(config, Part.COPY, flow))
        if flow.checkpoints is not None:
            jobs.append(_job(config, Part.CHECKPOINTS, flow))
    jobs += [_job(config, Part.CHECKPOINTS, each) for each in config.group_flows]
    jobs += [_job(config, Part.HEARTBEATS, each) for each in config.heartbeats]
    return jobs


def _job(config: MirrorConfig, part: Part, settings: FlowConfig | Heartbeats) -> ConnectorSpec:
    pair = f"{settings.source}->{settings.target}"
    aliases = [settings.target, settings.offsets_alias]
    if isinstance(settings, FlowConfig):  # heartbeats do not use their source
        aliases.append(settings.source)
    return ConnectorSpec(
        name=f"{pair}.{part}" if settings.name == pair else settings.name,
        part=part,
        settings=settings,
        clusters=tuple(config.cluster(each, settings.name) for each in dict.fromkeys(aliases)),
    )


def flows_of(jobs: Sequence[ConnectorSpec]) -> list[FlowConfig]:
    """The flows of the connectors that copy."""
    return [job.flow() for job in jobs if job.part is Part.COPY]
