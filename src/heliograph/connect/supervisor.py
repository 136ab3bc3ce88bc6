"""Runs the connectors of the config topic while this worker leads, and writes their tasks and statuses.

    config topic ──► jobs ──► engine ──► partitions, groups ──► tasks ──► config topic
                                │
                                └──────► connector health ────► statuses ──► status topic

Each round starts from the topics, so that it does not matter which worker wrote them or led before. Upstream:
DistributedHerder's tick thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from heliograph.client.net.backoff import Backoff
from heliograph.config.connectors.read_connectors import Connector, read_connector, rivals
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.connect.active_topics import ActiveTopics
from heliograph.connect.config_log import ConfigLog
from heliograph.connect.connector_health import ConnectorHealth, health_of
from heliograph.connect.connector_jobs import job_of, tasks_max_of, tasks_of
from heliograph.connect.status_log import StatusLog
from heliograph.connect.statuses import WorkerIdentity, same, wanted_statuses
from heliograph.counted import counted
from heliograph.errors import ClientError, ConfigError
from heliograph.mm2.connect.configs import (
    LoggerLevelRecord,
    RestartRecord,
    TargetState,
    TaskConfigRecord,
    TasksCommitRecord,
)
from heliograph.mm2.connect.status import (
    ConnectorStatusRecord,
    Status,
    StatusRecord,
    StatusState,
    TaskStatusRecord,
)
from heliograph.plan.tasks import TaskConfig
from heliograph.runtime.connectors.connector_spec import ConnectorSpec
from heliograph.runtime.connectors.running_connector import RunningConnector
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress

log = logging.getLogger(__name__)

_ROUND_SECONDS = 0.25
#: Only the leader writes to the config topic; this catches records that another program writes.
_REREAD_SECONDS = 2.0
_GOODBYE_SECONDS = 1.0
#: The version that statuses and plugins report for MM2's connectors.
CONNECT_VERSION = "4.3.1"


@dataclass(slots=True)
class _Known:
    """A connector, as parsed from its last configuration."""

    config: Mapping[str, str]
    generation: int
    connector: Connector
    job: ConnectorSpec | None = None
    failure: str | None = field(default=None)


class Supervisor(threading.Thread):
    """Neither opens nor closes the logs and the mirror. `in_charge`: it leads and has read the topics in this
    term. `set_level(logger, level)` is called for levels that are set on the whole cluster."""

    def __init__(
        self,
        worker: WorkerConfig,
        worker_id: str,
        mirror: Mirror,
        progress: Progress,
        configs: ConfigLog,
        statuses: StatusLog,
        set_level: Callable[[str, str], object],
        create_offsets_topic: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(name="supervisor", daemon=True)
        self._create_offsets_topic = create_offsets_topic
        self.opened = False
        self.trouble: str | None = "it has not read its topics yet"
        self._worker = worker
        self._worker_id = worker_id
        self._mirror = mirror
        (self._leadership,) = mirror.worker.leaderships
        self._progress = progress
        self._configs = configs
        self._statuses = statuses
        self._set_level = set_level
        self._topics = ActiveTopics(statuses, progress)
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._term: int | None = None
        self._busy = False
        self._generations: dict[str, int] = {}
        self._known: dict[str, _Known] = {}
        self._warned: set[str] = set()

    @property
    def in_charge(self) -> bool:
        return self._term is not None and self._term == self._leadership.term

    @property
    def settled(self) -> bool:
        """Whether the engine has all that is in the config topic."""
        return not self._wake.is_set() and not self._busy

    def wake(self) -> None:
        """Starts the next round at once."""
        self._wake.set()

    def start_again(self, name: str) -> None:
        """Restarts a connector and its tasks; thread-safe."""
        self._generations[name] = self._generations.get(name, 0) + 1
        self.wake()

    def reset_topics(self, name: str) -> None:
        self._topics.reset(name)

    def close(self) -> None:
        """After the mirror has stopped: writes UNASSIGNED for the connectors that this worker ran."""
        self._ended.set()
        self._wake.set()
        self.join(_GOODBYE_SECONDS)
        if self._term is None or self.is_alive():
            return
        try:
            self._statuses.write(list(self._unassigned()), patience=_GOODBYE_SECONDS)
        except ClientError as e:
            log.warning("cannot write the last statuses of the connectors: %s", e)

    def run(self) -> None:
        backoff = Backoff(first=0.25, most=5.0)
        while not self._ended.is_set():
            delay = _ROUND_SECONDS
            self._busy = True
            self._wake.clear()
            try:
                self._round()
                self.trouble = None
                backoff.reset()
            except (ClientError, ConfigError) as e:
                delay = backoff.next()
                self._report(f"{e}; trying again")
            except BaseException as e:  # noqa: BLE001 - SystemExit would end the thread without a line
                delay = backoff.next()
                self._report(f"unexpected failure: {type(e).__name__}: {e}", e)
            self._busy = False
            self._wake.wait(delay)

    def _report(self, trouble: str, unexpected: BaseException | None = None) -> None:
        if trouble != self.trouble:
            log.warning("worker %s: %s", self._worker_id, trouble, exc_info=unexpected)
        self.trouble = trouble

    def _open_offsets(self) -> None:
        """As Connect does at its start; only connectors need the topic, and report that it is missing."""
        try:
            self._create_offsets_topic()
        except ClientError as e:
            log.warning("worker %s: %s; no connector can store offsets", self._worker_id, e)

    def _round(self) -> None:
        if not self.opened:
            self._configs.open()
            self._statuses.open()
            self._open_offsets()
            self.opened = True
            log.info("Herder started")  # guides tell their readers to grep for it
        self._configs.refresh(max_age=_REREAD_SECONDS)
        term = self._leadership.term
        if term is None:
            self._term = None
            self._carry_out_requests(leads=False)
            return
        if term != self._term:
            self._take_charge(term)
        self._carry_out_requests(leads=True)
        self._assign(term)
        self._write_tasks()
        self._statuses.write(list(self._changed_statuses()))
        if self._worker.topic_tracking_enable:
            self._topics.write(self._running())

    def _take_charge(self, term: int) -> None:
        self._configs.refresh()
        self._carry_out_requests(leads=False)  # requests from before this worker led
        self._statuses.refresh()
        self._known, self._generations = {}, {}
        self._term = term
        count = len(self._configs.state.configs)
        log.info("worker %s leads the group; %s", self._worker_id, counted(count, "connector"))
        # Java's words: guides take them as a sign that a worker continues what it did before.
        log.info("Starting connectors and tasks using config offset %d", self._configs.offset)

    # ── from the config topic ────────────────────────────────────────────────────────────────────

    def _carry_out_requests(self, *, leads: bool) -> None:
        for request in self._configs.take_requests():
            if isinstance(request, LoggerLevelRecord):
                self._set_level(request.logger, request.level)
            elif leads:
                self.restart(request)

    def restart(self, request: RestartRecord) -> None:
        """Upstream: buildRestartPlan and doRestartConnectorAndTasks. A connector restarts with all its tasks
        here."""
        name, restarting = request.connector, []
        status = self._statuses.connector(name)
        if status is None:
            return
        who = self._who()
        if not request.only_failed or status.state is StatusState.FAILED:
            restarting.append(ConnectorStatusRecord(name, who.status(StatusState.RESTARTING)))
        tasks: list[StatusRecord] = [
            TaskStatusRecord(name, number, who.status(StatusState.RESTARTING))
            for number, each in self._statuses.tasks(name).items()
            if request.include_tasks
            if not request.only_failed or each.state is StatusState.FAILED
        ]
        if restarting or tasks:
            self._statuses.write([*restarting, *tasks])
            self.start_again(name)

    def _assign(self, term: int) -> None:
        state = self._configs.state
        self._known = {name: self._read(name, config) for name, config in state.configs.items()}
        jobs = [
            known.job
            for name, known in self._known.items()
            if known.job is not None and state.target(name) is TargetState.STARTED
        ]
        for warning in rivals(known.connector for known in self._known.values()):
            if warning not in self._warned:
                self._warned.add(warning)
                log.warning("%s", warning)
        paused = [name for name in self._known if state.target(name) is TargetState.PAUSED]
        self._mirror.worker.assign(self._leadership, jobs, term, paused=paused)

    def _read(self, name: str, config: Mapping[str, str]) -> _Known:
        generation, known = self._generations.get(name, 0), self._known.get(name)
        if known is not None and known.config == config and known.generation == generation:
            return known
        connector = self._connector(name, config)
        for warning in connector.warnings:
            log.warning("connector %s: %s", name, warning)
        job = None if connector.problems else job_of(connector, generation)
        refused = None if job is None else self._mirror.refusal(job)
        if failure := "\n".join(connector.problems) or refused:
            log.error("connector %s cannot run: %s", name, failure)
            return _Known(config, generation, connector, failure=failure)
        return _Known(config, generation, connector, job=job)

    def _connector(self, name: str, config: Mapping[str, str]) -> Connector:
        """Every connector of the topic came through REST, on this or another worker."""
        try:
            return read_connector(name, config, self._worker, self._worker.permitted)
        except Exception as e:
            log.exception("connector %s: unexpected failure", name)
            failure = f"connector {name}: unexpected failure: {type(e).__name__}: {e}"
            return Connector(name=name, kind=None, problems=(failure,))

    # ── to the topics ────────────────────────────────────────────────────────────────────────

    def _write_tasks(self) -> None:
        state = self._configs.state
        for name, known in self._known.items():
            if known.failure is not None or state.target(name) is not TargetState.STARTED:
                continue
            wanted = self._wanted_tasks(known)
            if wanted is None:
                continue
            if (
                wanted != state.task_configs(name)
                or state.stale(name)
                or name in state.inconsistent
            ):
                log.info("connector %s: %s", name, counted(len(wanted), "task"))
                tasks = [TaskConfigRecord(name, n, each) for n, each in enumerate(wanted)]
                self._configs.write([*tasks, TasksCommitRecord(name, len(tasks))])

    def _wanted_tasks(self, known: _Known) -> list[TaskConfig] | None:
        if known.job is None:
            return []
        connector = self._mirror.worker.connector_of(known.job)
        if connector is None:
            return None
        return tasks_of(known.config, connector, tasks_max_of(known.connector))

    def _changed_statuses(self) -> Iterator[StatusRecord]:
        state, statuses = self._configs.state, self._statuses
        for name in self._known:
            tasks = state.task_configs(name)
            health = self._health(name)
            for record in wanted_statuses(self._who(), name, state.target(name), tasks, health):
                if not same(self._last(record), record.status):
                    yield record
            for number in statuses.tasks(name).keys() - range(len(tasks)):
                yield TaskStatusRecord(name, number, None)
        for name in statuses.connectors() - self._known.keys():
            if not self._mirror.worker.busy(name):
                yield from (TaskStatusRecord(name, n, None) for n in statuses.tasks(name))
                yield ConnectorStatusRecord(name, None)
                self._topics.forget(name)

    def _last(self, record: ConnectorStatusRecord | TaskStatusRecord) -> Status | None:
        if isinstance(record, ConnectorStatusRecord):
            return self._statuses.connector(record.connector)
        return self._statuses.tasks(record.connector).get(record.task)

    def _health(self, name: str) -> ConnectorHealth:
        known, worker = self._known[name], self._mirror.worker
        if known.failure is not None or known.job is None:
            busy = worker.busy(name)
            return ConnectorHealth(runs=not busy, busy=busy, failure=known.failure)
        return health_of(worker, self._progress, known.job)

    def _running(self) -> Iterator[RunningConnector]:
        for known in self._known.values():
            connector = None if known.job is None else self._mirror.worker.connector_of(known.job)
            if connector is not None:
                yield connector

    def _unassigned(self) -> Iterator[StatusRecord]:
        status = self._who().status(StatusState.UNASSIGNED)
        for name in self._statuses.connectors():
            last = self._statuses.connector(name)
            if last is not None and last.state in _HELD:
                yield ConnectorStatusRecord(name, status)
            for number, task in self._statuses.tasks(name).items():
                if task.state in _HELD:
                    yield TaskStatusRecord(name, number, status)

    def _who(self) -> WorkerIdentity:
        return WorkerIdentity(
            worker_id=self._worker_id,
            generation=max(self._leadership.generation, 0),
            version=CONNECT_VERSION,
        )


_HELD = (StatusState.RUNNING, StatusState.FAILED, StatusState.RESTARTING, StatusState.PAUSED)
