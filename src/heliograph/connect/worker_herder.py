"""The herder of one worker of a Connect cluster: answers from the topics, and writes to them if it leads.

Upstream: DistributedHerder. Messages are Java's, since scripts look for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from heliograph.client.admin.membership import MemberState
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.connectors.connector_class import connector_class
from heliograph.config.connectors.read_connectors import read_connector
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.connect.config_log import ConfigLog
from heliograph.connect.herder import (
    AlreadyExists,
    BadRequest,
    ConnectorInfo,
    ConnectorStatus,
    NotFound,
    NotLeader,
    OffsetEntry,
    Rebalancing,
    State,
    TaskId,
)
from heliograph.connect.offsets import OffsetPlace, alter_offsets, read_offsets, reset_offsets
from heliograph.connect.request_errors import (
    await_stopped,
    await_worker,
    must_be_stopped,
    request_errors,
)
from heliograph.connect.restart_plan import restart_plan
from heliograph.connect.status_log import StatusLog
from heliograph.connect.statuses import shown
from heliograph.connect.storage_topic import ensure_storage_topic
from heliograph.connect.supervisor import Supervisor
from heliograph.errors import ClientError
from heliograph.metrics.snapshot import ConnectorFigures
from heliograph.mm2.connect.cluster_state import ConfigState, Task
from heliograph.mm2.connect.configs import (
    ConfigRecord,
    ConnectorConfigRecord,
    LoggerLevelRecord,
    RestartRecord,
    TargetState,
    TargetStateRecord,
    TasksCommitRecord,
)
from heliograph.runtime.connectors.connector_spec import WorkGroup
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress

log = logging.getLogger(__name__)

#: A standby worker reads the topics for each request: configurations every time, since a client that has just
#: changed one reads it back at once; statuses (several partitions) at most this often.
_FRESH_SECONDS = 0.2
_REBALANCING = (
    "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent "
    "config change)"
)
_NO_LEADER = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was "
    "underway."
)
_INITIAL_STATES = {"RUNNING": TargetState.STARTED} | {
    state.value: state for state in (TargetState.PAUSED, TargetState.STOPPED)
}


def work_group(worker: WorkerConfig, url: str) -> WorkGroup:
    """The work group of the mirror that runs this worker's connectors."""
    return WorkGroup(
        group_id=worker.group_id,
        cluster=worker.cluster,
        names=(f"worker {url}",),
        url=url,
        assigned=True,
    )


class WorkerHerder:
    """`url`: this worker's REST address for other workers. The caller runs and stops the mirror."""

    def __init__(
        self,
        worker: WorkerConfig,
        url: str,
        mirror: Mirror,
        progress: Progress,
        set_level: Callable[[str, str], object] = lambda logger, level: None,
    ) -> None:
        """`set_level(logger, level)` is called for levels that are set on the whole cluster."""
        self._worker = worker
        self._mirror = mirror
        (self._leadership,) = mirror.worker.leaderships
        self._configs = ConfigLog(self._client("configs"), worker.config_topic)
        self._statuses = StatusLog(self._client("statuses"), worker.status_topic)
        self._cluster = self._client("admin")
        self._supervisor = Supervisor(
            worker,
            url.partition("://")[2].rstrip("/"),
            mirror,
            progress,
            self._configs,
            self._statuses,
            set_level,
            self._create_offsets_topic,
        )

    def _create_offsets_topic(self) -> None:
        with closing(self._client("offsets")) as cluster:
            topic = self._worker.offsets_topic
            ensure_storage_topic(cluster, topic, "offset.storage.replication.factor")

    def start(self) -> None:
        log.info("Herder starting")
        self._supervisor.start()

    def close(self) -> None:
        """After the mirror has stopped."""
        self._supervisor.close()
        for each in (self._configs, self._statuses, self._cluster):
            each.close()

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def connectors(self) -> list[str]:
        return list(self._state().configs)

    def info(self, name: str) -> ConnectorInfo:
        state = self._state()
        return self._info(state, name, _config(state, name))

    def config(self, name: str) -> Mapping[str, str]:
        return _config(self._state(), name)

    def status(self, name: str) -> ConnectorStatus:
        state = self._state()
        self._read_statuses()
        status = self._statuses.connector(name)
        if status is None:
            raise NotFound(f"No status found for connector {name}")
        tasks = {number: shown(each) for number, each in self._statuses.tasks(name).items()}
        kind = _type(state.configs.get(name, {}))
        return ConnectorStatus(name, shown(status), tasks, kind)

    def task_status(self, id: TaskId) -> State:
        self._state()
        self._read_statuses()
        status = self._statuses.tasks(id.connector).get(id.task)
        if status is None:
            raise NotFound(f"No status found for task {id.connector}-{id.task}")
        return shown(status)

    def task_configs(self, name: str) -> Mapping[TaskId, Mapping[str, str]]:
        state = self._state()
        _config(state, name)
        return {TaskId(name, n): each for n, each in enumerate(state.task_configs(name))}

    def active_topics(self, name: str) -> list[str]:
        self._state()
        self._read_statuses()
        return list(self._statuses.topics(name))

    def kafka_cluster_id(self) -> str:
        with request_errors():
            return self._cluster.metadata.cluster_id or self._cluster.refresh([]).cluster_id or ""

    def measured_connectors(self) -> list[ConnectorFigures]:
        """None before the topics are read. On a worker that does not lead, all connectors are another's."""
        if not self._supervisor.opened:
            return []
        state, leads = self._configs.state, self._supervisor.in_charge
        found = []
        for name, config in state.configs.items():
            kind = connector_class(config.get("connector.class", ""))
            status = self._statuses.connector(name) if leads else None
            tasks = self._statuses.tasks(name) if leads else {}
            found.append(
                ConnectorFigures(
                    name=name,
                    kind="" if kind is None else kind.value,
                    flow=name,
                    source=config.get("source.cluster.alias", ""),
                    target=config.get("target.cluster.alias", ""),
                    state="UNASSIGNED" if status is None else status.state.value,
                    tasks={number: each.state.value for number, each in tasks.items()},
                )
            )
        return found

    def ready(self) -> str | None:
        if not self._supervisor.opened:
            return self._supervisor.trouble or "it has not read its topics yet"
        if self._supervisor.in_charge:
            return self._supervisor.trouble
        return None if self._leadership.leader_url else self._leadership.waits_for

    # ── writing ──────────────────────────────────────────────────────────────────────────────

    def put(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        initial_state: str | None,
        allow_replace: bool,
    ) -> tuple[bool, ConnectorInfo]:
        state = self._leading_state()
        created = name not in state.configs
        if not created and not allow_replace:
            raise AlreadyExists(f"Connector {name} already exists")
        records: list[ConfigRecord] = [ConnectorConfigRecord(name, dict(config))]
        if initial_state is not None:
            records.insert(0, TargetStateRecord(name, _INITIAL_STATES[initial_state.upper()]))
        tasks = self._info(state, name, config)
        self._write(*records)
        return created, tasks

    def delete(self, name: str) -> None:
        _config(self._leading_state(), name)
        self._write(ConnectorConfigRecord(name, None), TargetStateRecord(name, None))

    def pause(self, name: str) -> None:
        self._require(name, f"Unknown connector {name}")
        self._write(TargetStateRecord(name, TargetState.PAUSED))

    def resume(self, name: str) -> None:
        self._require(name, f"Unknown connector {name}")
        self._write(TargetStateRecord(name, TargetState.STARTED))

    def stop(self, name: str) -> None:
        """The tasks go first, as in Java: a running connector without tasks is valid, a stopped one with
        tasks is not."""
        self._require(name, f"Unknown connector {name}")
        self._write(TasksCommitRecord(name, 0), TargetStateRecord(name, TargetState.STOPPED))

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        self._require(name, f"Unknown connector: {name}")
        request = RestartRecord(name, include_tasks=include_tasks, only_failed=only_failed)
        try:
            planned = restart_plan(self.status(name), request)
        except NotFound:
            raise NotFound(f"Status for connector {name} not found") from None
        if include_tasks or only_failed:
            self._write(request)
        else:  # upstream: restartConnector, which writes no record
            with request_errors():
                self._supervisor.restart(request)
        return planned

    def restart_task(self, id: TaskId) -> None:
        state = self._require(id.connector, f"Unknown connector: {id.connector}")
        if not state.has_had(Task(*id)):
            raise NotFound(f"Unknown task: {id.connector}-{id.task}")
        if id.task >= len(state.tasks(id.connector)):
            raise Rebalancing(_NO_LEADER)
        self._supervisor.start_again(id.connector)

    def set_level_everywhere(self, logger: str, level: str) -> None:
        """On every worker of the cluster, this one included (KIP-976)."""
        self._state()
        self._write(LoggerLevelRecord(logger, level))

    def reset_active_topics(self, name: str) -> None:
        self._leading_state()
        with request_errors():
            self._supervisor.reset_topics(name)

    # ── offsets ──────────────────────────────────────────────────────────────────────────────

    def offsets(self, name: str) -> list[OffsetEntry]:
        with request_errors():
            return read_offsets(self._place(self._state(), name))

    def alter_offsets(self, name: str, offsets: Sequence[OffsetEntry]) -> str:
        place = self._stopped(name)
        with request_errors():
            alter_offsets(place, offsets)
        return "The offsets for this connector have been altered successfully"

    def reset_offsets(self, name: str) -> str:
        place = self._stopped(name)
        with request_errors():
            reset_offsets(place)
        return "The offsets for this connector have been reset successfully"

    def _stopped(self, name: str) -> OffsetPlace:
        """Where the offsets of a stopped connector are stored. Raises BadRequest if it is not stopped."""
        state = self._leading_state()
        _config(state, name)
        if state.target(name) is not TargetState.STOPPED or state.tasks(name):
            raise BadRequest(must_be_stopped(name))
        await_stopped(name, lambda: self._mirror.worker.busy(name) or not self._supervisor.settled)
        return self._place(state, name)

    def _place(self, state: ConfigState, name: str) -> OffsetPlace:
        config = _config(state, name)
        kind = connector_class(config.get("connector.class", ""))
        if kind is None:
            raise BadRequest(f"Connector {name} is not one of MirrorMaker 2's connectors")
        found = read_connector(name, config, self._worker, self._worker.permitted)
        its, target = found.flow or found.heartbeats, None
        cluster, topic = self._worker.cluster, self._worker.offsets_topic.name
        if its is not None and not found.problems:
            clusters = {each.alias: each for each in found.clusters}
            target, cluster = clusters[its.target], clusters[its.offsets_alias]
            topic = its.offsets_topic.name
        return OffsetPlace(
            connector=name,
            kind=kind.value,
            topic=topic,
            cluster=cluster,
            source=None if its is None else its.source,
            target=target,
        )

    # ── in common ────────────────────────────────────────────────────────────────────────────

    def _state(self) -> ConfigState:
        """The state of the config topic; a worker that does not lead reads the topic first."""
        await_worker(self._state_if_read, self._starting)
        if not self._supervisor.in_charge:
            with _or_last_known():
                self._configs.refresh()
        return self._configs.state

    def _read_statuses(self) -> None:
        if not self._supervisor.in_charge:
            with _or_last_known():
                self._statuses.refresh(_FRESH_SECONDS)

    def _leading_state(self) -> ConfigState:
        """Raises NotLeader on a worker that does not lead, Rebalancing if a leader is not to be expected."""
        return await_worker(self._state_if_leading, self._starting)

    def _state_if_read(self) -> ConfigState | None:
        self._refuse_if_stopping()
        return self._configs.state if self._supervisor.opened else None

    def _state_if_leading(self) -> ConfigState | None:
        if self._supervisor.in_charge:
            return self._configs.state
        if self._leadership.leader_url is not None:
            raise NotLeader(self._leadership.leader_url)
        self._refuse_if_stopping()
        if self._leadership.standing is MemberState.REFUSED:
            raise Rebalancing(f"{_REBALANCING}: {self._leadership.waits_for}")
        return None

    def _refuse_if_stopping(self) -> None:
        if self._mirror.stopping:
            raise Rebalancing(f"{_REBALANCING}: this worker is stopping")

    def _starting(self) -> str:
        if not self._supervisor.opened:
            return f"starting up: {self._supervisor.trouble}"
        return f"waiting for a leader of its group: {self._leadership.waits_for}"

    def _require(self, name: str, otherwise: str) -> ConfigState:
        state = self._leading_state()
        if name not in state.configs:
            raise NotFound(otherwise)
        return state

    def _write(self, *records: ConfigRecord) -> None:
        with request_errors():
            self._configs.write(records)
        self._supervisor.wake()

    def _info(self, state: ConfigState, name: str, config: Mapping[str, str]) -> ConnectorInfo:
        tasks = tuple(TaskId(*task) for task in state.tasks(name))
        return ConnectorInfo(name, dict(config), tasks, _type(config))

    def _client(self, purpose: str) -> ClusterClient:
        return ClusterClient(self._worker.cluster, client_id=f"{self._worker.group_id}-{purpose}")


def _config(state: ConfigState, name: str) -> Mapping[str, str]:
    config = state.configs.get(name)
    if config is None:
        raise NotFound(f"Connector {name} not found")
    return config


def _type(config: Mapping[str, str]) -> str:
    return "unknown" if connector_class(config.get("connector.class", "")) is None else "source"


@contextmanager
def _or_last_known() -> Iterator[None]:
    """If the topics cannot be read, the last known state is the answer, as in Java."""
    try:
        yield
    except ClientError as e:
        log.warning("answering from the state read earlier: %s", e)
