"""Makes sure that one service at a time runs a flow: the leader of the group of its workers on the target.

The group is that of Connect's workers, `<source>-mm2`. One of several Heliograph services runs; the others
stand by and take over when it leaves or its session (6 s) expires. While a Java MirrorMaker 2 is a member of
the group, Heliograph waits, and vice versa. docs/decisions/0011-one-service-at-a-time.md
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from heliograph.client.admin.group_requests import Protocol
from heliograph.client.admin.membership import Membership, MemberState
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import ClientError
from heliograph.machine.identity import Identity
from heliograph.mm2.service_member import (
    PROTOCOL,
    PROTOCOL_TYPE,
    RUNS,
    STANDS_BY,
    ServiceProcess,
    read_process,
)
from heliograph.model import ClusterConfig
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, WorkGroup
from heliograph.runtime.connectors.running_connector import RunningConnector
from heliograph.runtime.connectors.schedule import time_left
from heliograph.runtime.events import EventKind, Severity
from heliograph.runtime.problems import Problems, is_passing

log = logging.getLogger(__name__)

#: Request timeouts: JoinGroup and SyncGroup wait for a rebalance, all other requests need less.
_JOIN_SECONDS = 60.0
_LOOK_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 1.0
_LEAVE_SECONDS = 1.0
_TICK_SECONDS = 0.2


class Leadership:
    """A thread that keeps this service a member of one group, and starts and ends the group's connectors."""

    def __init__(
        self,
        work: WorkGroup,
        open_connector: Callable[[ConnectorSpec], RunningConnector],
        problems: Problems,
        stop: threading.Event,
    ) -> None:
        group, target = work.group_id, work.cluster
        self.names = work.names
        self.connectors: tuple[RunningConnector, ...] = ()
        self.fatal_error: ClientError | None = None  # one that does not pass by waiting
        self.waits_for = ""
        #: The REST address of the leader, if this service stands by.
        self.leader_url: str | None = None
        self._jobs = {job.name: job for job in work.jobs}
        self._paused: frozenset[str] = frozenset()
        self._led = False
        self._term = 0
        self._assigned = work.assigned
        self._lock = threading.Lock()  # for jobs and terms
        self._next_look = 0.0
        self._open_connector = open_connector
        self._problems = problems
        self._stop = stop
        self._released = threading.Event()
        self._on_begin: Callable[[RunningConnector], None] = RunningConnector.start
        self._seen: tuple[MemberState, int] | None = None
        self._sentence_logged = ""
        self._electing: str | None = None  # the answer of brokers that elect a coordinator
        servers = ",".join(target.bootstrap_servers)
        self._identity = Identity(f"{servers} {group}")
        self._looking = self._client(target, _LOOK_SECONDS)
        self._asking = self._client(target, _JOIN_SECONDS)
        process = ServiceProcess(host=os.uname().nodename, pid=os.getpid(), url=work.url)
        self._membership = Membership(
            group,
            asking=self._asking,
            looking=self._looking,
            protocol=Protocol(type=PROTOCOL_TYPE, name=PROTOCOL, metadata=process.metadata()),
            assignments=(RUNS, STANDS_BY),
            instance_id=self._identity.name,
        )
        self._thread = threading.Thread(target=self._run, name=f"{group} member", daemon=True)

    @property
    def leads(self) -> bool:
        """Whether this service runs the group's connectors at the moment."""
        return self._led and self._membership.runs

    @property
    def unreachable(self) -> str | None:
        """The alias of the group's cluster while none of its brokers answers: without it nothing is led."""
        reached = all(client.meter.reachable for client in (self._asking, self._looking))
        return None if reached else self._asking.config.alias

    @property
    def group(self) -> str:
        return self._membership.seat.group

    @property
    def standing(self) -> MemberState:
        return self._membership.state

    @property
    def generation(self) -> int:
        return self._membership.seat.generation

    @property
    def jobs(self) -> list[ConnectorSpec]:
        return list(self._jobs.values())

    @property
    def term(self) -> int | None:
        """A number for the time that this service leads without interruption; None: it does not lead."""
        return self._term if self.leads else None

    def assign(
        self, jobs: Iterable[ConnectorSpec], term: int | None = None, *, paused: Iterable[str] = ()
    ) -> None:
        """Set the group's connectors; they are started and ended soon after, those that are `paused` with
        this as their last state. With a `term`, only if that is still the current one."""
        with self._lock:
            if term is None or term == self._term:
                self._paused = frozenset(paused)
                self._jobs = {job.name: job for job in jobs}

    @property
    def decided(self) -> bool:
        return self._membership.state is not MemberState.JOINING

    def start(self, *, bounded: bool) -> None:
        """In a bounded run connectors have no threads: the caller does their work."""
        if bounded:
            self._on_begin = lambda connector: None
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Call this once `stop` is set and the copy has ended."""
        left = time_left(timeout)
        for connector in self.connectors:
            connector.close(left(), goodbye=self._membership.runs)
        self._released.set()
        if self._thread.is_alive():
            self._thread.join(left())
        if not self._thread.is_alive():
            self._leave()
        self._identity.close()

    def _run(self) -> None:
        backoff = Backoff(most=1.0)
        while not self._released.is_set():
            try:
                delay = self._membership.step()
                backoff.reset()
                self.fatal_error = None
                self._report_member_state()
            except ClientError as e:
                delay = backoff.next()
                self.fatal_error = None if e.retriable or self._led else e
                self._report_member_state(
                    f"{e}; retrying" if e.tried_again else str(e), passing=is_passing(e)
                )
            self._follow()
            self._released.wait(min(delay, _TICK_SECONDS))

    # ── terms ────────────────────────────────────────────────────────────────────────────────

    def _follow(self) -> None:
        """Start or end connectors, depending on whether this service leads."""
        if self._stop.is_set():
            for connector in self.connectors:
                connector.over.set()
        elif self._membership.runs:
            self._update_connectors()
            self._led = True
        elif self._led:
            self._end()

    def _update_connectors(self) -> None:
        """End connectors that were removed or changed; start those that are missing."""
        jobs = self._jobs
        for connector in self.connectors:
            if not connector.leaving and jobs.get(connector.job.name) != connector.job:
                connector.leave(paused=connector.job.name in self._paused)
                ending = _ending(connector.job, jobs.get(connector.job.name))
                log.info("connector %s: %s", connector.job.name, ending)
                self._problems.events.add(EventKind.CONNECTOR, connector.job.name, ending)
            elif connector.leaving and connector.released.is_set() and not connector.over.is_set():
                connector.over.set()
                self._close_aside([connector], goodbye=True)
        kept = [connector for connector in self.connectors if not connector.closed.is_set()]
        taken = {connector.job.name for connector in kept}
        begun = [self._open_connector(job) for name, job in jobs.items() if name not in taken]
        for connector in begun:
            log.info("Starting connector %s", connector.job.name)
            self._problems.events.add(EventKind.CONNECTOR, connector.job.name, "starting")
        if begun or len(kept) < len(self.connectors):
            self.connectors = (*kept, *begun)
        for connector in begun:
            self._on_begin(connector)

    def _close_aside(self, connectors: Sequence[RunningConnector], *, goodbye: bool) -> None:
        """In a thread: a connector that waits for a broker may take a while to end."""
        group = self._membership.seat.group
        threading.Thread(
            target=_close_all, args=(connectors, goodbye), name=f"{group} end", daemon=True
        ).start()

    def _end(self) -> None:
        names = ", ".join(self.names)
        lost = (
            f"lost leadership of group {self._membership.seat.group} (session expired or another member "
            "elected); stopping its copy"
        )
        log.warning("%s: %s", names, lost)
        self._problems.events.add(EventKind.LEADERSHIP, names, lost, Severity.WARNING)
        ended, self.connectors = self.connectors, ()
        with self._lock:
            self._led, self._seen, self._sentence_logged = False, None, ""
            self._term += 1
            if self._assigned:
                self._jobs = {}
        still_open = [connector for connector in ended if not connector.over.is_set()]
        for connector in still_open:
            connector.over.set()
            self._problems.forget(connector.job.area)
        self._close_aside(still_open, goodbye=False)

    def _leave(self) -> None:
        self._looking.timeout = _LEAVE_SECONDS
        try:
            self._membership.leave()
        except ClientError as e:
            log.info("%s: %s", self._membership.seat.group, e)
        self._membership.close()

    # ── what people see ──────────────────────────────────────────────────────────────────────

    @property
    def electing(self) -> bool:
        """Whether brokers still elect the group's coordinator, as at the first start on a new cluster."""
        return self._electing is not None

    def _report_member_state(self, problem: str | None = None, *, passing: bool = False) -> None:
        """Log the member state when it changes; report an error as a problem while it lasts."""
        standing, generation = self._membership.state, self._membership.seat.generation
        if standing is not MemberState.JOINING and (standing, generation) != self._seen:
            self._seen, before = (standing, generation), self._sentence_logged
            self._sentence_logged = self._sentence(standing)
            if self._sentence_logged != before:
                names = ", ".join(self.names)
                log.info("%s: %s", names, self._sentence_logged)
                self._problems.events.add(EventKind.LEADERSHIP, names, self._sentence_logged)
        self._look_for_leader(standing)
        if problem is None and standing is MemberState.JOINING and self._electing is not None:
            problem, passing = self._electing, True  # asked again, not answered yet
        self._electing = problem if passing else None
        if problem is None and standing in (MemberState.REFUSED, MemberState.ALONE):
            problem = self._sentence_logged
        self.waits_for = (
            problem or self._sentence_logged or "its group has not elected a leader yet"
        )
        found = {} if problem is None else {"": problem}
        what = "" if self._assigned else "flow "
        for name in self.names:
            area = f"{what}{name}: group {self._membership.seat.group}"
            self._problems.update(area, found, passing=passing)

    def _sentence(self, standing: MemberState) -> str:
        group = self._membership.seat.group
        if standing is MemberState.RUNS:
            return "this service runs it"
        if standing is MemberState.ALONE:
            return (
                f"no permission to join the group {group}, so a second service with this configuration would "
                "not be detected; run only one, or allow READ on that group"
            )
        others = self._others()
        if standing is MemberState.REFUSED:
            return (
                f"the group {group} is in use by a Java MirrorMaker 2 or Connect worker"
                f"{others and f' ({others})'}, which runs this flow; waiting until it has stopped"
            )
        return (
            f"STANDBY: another Heliograph runs it{others and f' ({others})'}; taking over when it stops "
            "or its session expires"
        )

    def _look_for_leader(self, standing: MemberState) -> None:
        """Retried every second: while a group rebalances, its leader is not known."""
        now = time.monotonic()
        if standing is not MemberState.STANDS_BY:
            self.leader_url = None
        elif self.leader_url is None and now >= self._next_look:
            self._next_look = now + _LOOK_AGAIN_SECONDS
            self._others()

    def _others(self) -> str:
        """The members that run, from DescribeGroups."""
        described = self._membership.describe()
        if described is None:
            return ""
        running = [m for m in described.members if m.assignment == RUNS]
        processes = [read_process(member.metadata) for member in running]
        self.leader_url = next((p.url for p in processes if p is not None), None)
        return "; ".join(map(str, running or described.members))

    def _lapsed(self) -> bool:
        """Whether requests are interrupted: when the session has expired, or, if nothing runs, at a stop."""
        if self._released.is_set():
            return False
        return not self._membership.runs if self._led else self._stop.is_set()

    def _client(self, target: ClusterConfig, timeout: float) -> ClusterClient:
        # The client id of Connect's workers in MM2.
        return ClusterClient(target, client_id=self.names[0], timeout=timeout, stopped=self._lapsed)


def _ending(job: ConnectorSpec, successor: ConnectorSpec | None) -> str:
    if successor is None:
        return "stopping"
    return "restarting" if successor.settings == job.settings else "restarting with other settings"


def _close_all(connectors: Sequence[RunningConnector], goodbye: bool) -> None:
    for connector in connectors:
        connector.close(_JOIN_SECONDS, goodbye=goodbye)
