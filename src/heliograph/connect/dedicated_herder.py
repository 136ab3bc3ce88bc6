"""Shows and controls the connectors of `heliograph run` through REST; MM2's dedicated mode has no such API.

Configurations come from the file. A pause or a stop lasts until the process ends: after a restart everything
in the file runs. Connectors of a flow that another service runs are UNASSIGNED here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from heliograph.client.admin.membership import MemberState
from heliograph.config.mirror_config import FlowConfig
from heliograph.connect.connector_health import health_of
from heliograph.connect.connector_jobs import tasks_of
from heliograph.connect.herder import (
    BadRequest,
    ConnectorInfo,
    ConnectorStatus,
    Forbidden,
    NotFound,
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
from heliograph.connect.statuses import WorkerIdentity, shown, wanted_statuses
from heliograph.connect.supervisor import CONNECT_VERSION
from heliograph.metrics.snapshot import ConnectorFigures
from heliograph.mm2.connect.configs import RestartRecord, TargetState
from heliograph.mm2.connect.status import ConnectorStatusRecord
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part
from heliograph.runtime.driver import Mirror
from heliograph.runtime.leadership import Leadership
from heliograph.runtime.progress import Progress

_NOT_WRITABLE = (
    "The connectors of this service come from its configuration file; set rest.writable=true there to pause, "
    "stop and restart them, and to alter their offsets, through REST"
)
_OF_THE_FILE = (
    "The connectors of this service come from its configuration file: change the file and restart the "
    "service; heliograph serve creates connectors through REST"
)

#: Another service runs the flow.
_DECIDED = (MemberState.STANDS_BY, MemberState.REFUSED)


class DedicatedHerder:
    """`configs`: the configuration that MM2 would give each connector, by name."""

    def __init__(
        self,
        mirror: Mirror,
        progress: Progress,
        configs: Mapping[str, Mapping[str, str]],
        *,
        worker_id: str,
        writable: bool,
    ) -> None:
        self._mirror = mirror
        self._worker = mirror.worker
        self._progress = progress
        self._configs = configs
        self._worker_id = worker_id
        self._writable = writable
        self._lock = threading.Lock()
        self._targets: dict[str, TargetState] = {}
        self._generations: dict[str, int] = {}
        self._last_tasks: dict[str, Sequence[Mapping[str, str]]] = {}
        self._jobs: dict[str, tuple[Leadership, ConnectorSpec]] = {
            job.name: (leadership, job)
            for leadership in self._worker.leaderships
            for job in leadership.jobs
        }

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def connectors(self) -> list[str]:
        return list(self._jobs)

    def info(self, name: str) -> ConnectorInfo:
        config = self.config(name)
        tasks = tuple(TaskId(name, number) for number in range(len(self._tasks(name))))
        return ConnectorInfo(name, config, tasks, "source")

    def config(self, name: str) -> Mapping[str, str]:
        self._require(name, f"Connector {name} not found")
        return self._configs.get(name, {"name": name})

    def status(self, name: str) -> ConnectorStatus:
        leadership, _ = self._require(name, f"No status found for connector {name}")
        if not leadership.leads:
            trace = leadership.waits_for or None
            return ConnectorStatus(name, self._state("UNASSIGNED", trace), {}, "source")
        worker = WorkerIdentity(
            worker_id=self._worker_id,
            generation=max(leadership.generation, 0),
            version=CONNECT_VERSION,
        )
        connector, tasks = self._state("UNASSIGNED"), dict[int, State]()
        for record in wanted_statuses(
            worker,
            name,
            self._target(name),
            self._tasks(name),
            health_of(self._worker, self._progress, self._job(name)),
        ):
            assert record.status is not None
            if isinstance(record, ConnectorStatusRecord):
                connector = shown(record.status)
            else:
                tasks[record.task] = shown(record.status)
        return ConnectorStatus(name, connector, tasks, "source")

    def task_status(self, id: TaskId) -> State:
        otherwise = f"No status found for task {id.connector}-{id.task}"
        self._require(id.connector, otherwise)
        state = self.status(id.connector).tasks.get(id.task)
        if state is None:
            raise NotFound(otherwise)
        return state

    def task_configs(self, name: str) -> Mapping[TaskId, Mapping[str, str]]:
        self._require(name, f"Connector {name} not found")
        return {TaskId(name, number): each for number, each in enumerate(self._tasks(name))}

    def active_topics(self, name: str) -> list[str]:
        """Topics written to since this service started."""
        _, job = self._require(name, f"Connector {name} not found")
        if job.part is not Part.COPY:
            return []
        flow = job.flow()
        return [
            flow.target_topic(each.topic)
            for each in self._progress.topics()
            if each.flow == flow.name and each.records
        ]

    def kafka_cluster_id(self) -> str:
        """The cluster id of the first target that is known."""
        for connector in self._worker.connectors:
            if connector.flow is not None and (known := connector.flow.target_id) is not None:
                return known
        return ""

    def measured_connectors(self) -> list[ConnectorFigures]:
        found = []
        for name, (_, job) in list(self._jobs.items()):
            status = self.status(name)
            found.append(
                ConnectorFigures(
                    name=name,
                    kind=job.part,
                    flow=job.settings.name,
                    source=job.settings.source,
                    target=job.settings.target,
                    state=status.connector.state,
                    tasks={number: each.state for number, each in status.tasks.items()},
                )
            )
        return found

    def ready(self) -> str | None:
        return None

    def offsets(self, name: str) -> list[OffsetEntry]:
        with request_errors():
            return read_offsets(self._place(name))

    # ── writing ──────────────────────────────────────────────────────────────────────────────

    def put(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        initial_state: str | None,
        allow_replace: bool,
    ) -> tuple[bool, ConnectorInfo]:
        raise Forbidden(_OF_THE_FILE)

    def delete(self, name: str) -> None:
        raise Forbidden(_OF_THE_FILE)

    def reset_active_topics(self, name: str) -> None:
        raise Forbidden(_OF_THE_FILE)

    def pause(self, name: str) -> None:
        self._aim(name, TargetState.PAUSED)

    def resume(self, name: str) -> None:
        self._aim(name, TargetState.STARTED)

    def stop(self, name: str) -> None:
        self._aim(name, TargetState.STOPPED)

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        self._require_leading(name, f"Unknown connector: {name}")
        request = RestartRecord(name, include_tasks=include_tasks, only_failed=only_failed)
        planned = restart_plan(self.status(name), request)
        if any(s.state == "RESTARTING" for s in (planned.connector, *planned.tasks.values())):
            self._start_again(name)
        return planned

    def restart_task(self, id: TaskId) -> None:
        self._require_leading(id.connector, f"Unknown connector: {id.connector}")
        if id.task >= len(self._tasks(id.connector)):
            raise NotFound(f"Unknown task: {id.connector}-{id.task}")
        self._start_again(id.connector)

    def alter_offsets(self, name: str, offsets: Sequence[OffsetEntry]) -> str:
        self._require_stopped(name)
        with request_errors():
            alter_offsets(self._place(name), offsets)
        return "The offsets for this connector have been altered successfully"

    def reset_offsets(self, name: str) -> str:
        self._require_stopped(name)
        with request_errors():
            reset_offsets(self._place(name))
        return "The offsets for this connector have been reset successfully"

    # ── in common ────────────────────────────────────────────────────────────────────────────

    def _aim(self, name: str, target: TargetState) -> None:
        leadership, _ = self._require_leading(name, f"Unknown connector {name}")
        with self._lock:
            self._targets[name] = target
            self._assign(leadership)

    def _start_again(self, name: str) -> None:
        leadership, _ = self._jobs[name]
        with self._lock:
            self._generations[name] = self._generations.get(name, 0) + 1
            self._assign(leadership)

    def _assign(self, leadership: Leadership) -> None:
        self._worker.assign(
            leadership,
            [
                self._job(name)
                for name, (its, _) in self._jobs.items()
                if its is leadership and self._target(name) is TargetState.STARTED
            ],
            paused=[name for name in self._jobs if self._target(name) is TargetState.PAUSED],
        )

    def _job(self, name: str) -> ConnectorSpec:
        return replace(self._jobs[name][1], generation=self._generations.get(name, 0))

    def _target(self, name: str) -> TargetState:
        return self._targets.get(name, TargetState.STARTED)

    def _tasks(self, name: str) -> Sequence[Mapping[str, str]]:
        """A paused connector keeps its tasks."""
        if self._target(name) is TargetState.STOPPED:
            self._last_tasks.pop(name, None)
        connector = self._worker.connector_of(self._job(name))
        if connector is not None:
            settings = connector.job.settings
            most = settings.tasks_max if isinstance(settings, FlowConfig) else 1
            tasks = tasks_of(self.config(name), connector, most)
            if tasks is not None:
                self._last_tasks[name] = tasks
        return self._last_tasks.get(name, [])

    def _place(self, name: str) -> OffsetPlace:
        _, job = self._require(name, f"Connector {name} not found")
        settings = job.settings
        return OffsetPlace(
            connector=job.connector_name,
            kind=job.part.value,
            topic=settings.offsets_topic.name,
            cluster=job.cluster(settings.offsets_alias),
            source=settings.source,
            target=job.cluster(settings.target),
        )

    def _require(self, name: str, otherwise: str) -> tuple[Leadership, ConnectorSpec]:
        if name not in self._jobs:
            raise NotFound(otherwise)
        return self._jobs[name]

    def _require_leading(self, name: str, otherwise: str) -> tuple[Leadership, ConnectorSpec]:
        found = self._require(name, otherwise)
        if not self._writable:
            raise Forbidden(_NOT_WRITABLE)
        leadership, _ = found

        def leads() -> bool | None:
            if leadership.leads:
                return True
            if leadership.standing in _DECIDED or self._mirror.stopping:
                raise Rebalancing(f"{name}: this service does not run it: {leadership.waits_for}")
            return None

        await_worker(leads, lambda: f"joining its group: {leadership.waits_for}")
        return found

    def _require_stopped(self, name: str) -> None:
        self._require_leading(name, f"Connector {name} not found")
        if self._target(name) is not TargetState.STOPPED:
            raise BadRequest(must_be_stopped(name))
        await_stopped(name, lambda: self._worker.busy(name))

    def _state(self, state: str, trace: str | None = None) -> State:
        return State(state, self._worker_id, trace, CONNECT_VERSION)
