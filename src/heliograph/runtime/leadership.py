"""One service at a time: a flow is run by the service that leads the group of its workers on the target.

The group is that of Connect's workers, `<source>-mm2`. Of several Heliographs one runs, the others stand by
and take over when it has left, or has been silent for a session (6 s). While a Java MirrorMaker 2 is in the
group we wait, and so the other way round. docs/decisions/0011-one-service-at-a-time.md
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
from heliograph.runtime.connector_spec import ConnectorSpec, WorkGroup
from heliograph.runtime.problems import Problems
from heliograph.runtime.running_connector import RunningConnector
from heliograph.runtime.schedule import time_left

log = logging.getLogger(__name__)

#: Longer than a rebalance takes; what has a deadline of its own is asked with the second.
_JOIN_SECONDS = 60.0
_LOOK_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 1.0
_LEAVE_SECONDS = 1.0
_TICK_SECONDS = 0.2


class Leadership:
    """A thread that holds the place of this service in one group, and begins and ends the terms of the
    jobs that the group stands for."""

    def __init__(
        self,
        work: WorkGroup,
        open_tenure: Callable[[ConnectorSpec], RunningConnector],
        problems: Problems,
        stop: threading.Event,
    ) -> None:
        group, target = work.group_id, work.cluster
        self.names = work.names
        self.tenures: tuple[RunningConnector, ...] = ()
        self.hopeless: ClientError | None = None  # why waiting will not help
        self.waits_for = ""
        #: Where the service that runs answers REST, if this one stands by.
        self.leader_url: str | None = None
        self._jobs = {job.name: job for job in work.jobs}
        self._led = False
        self._term = 0
        self._assigned = work.assigned
        self._lock = threading.Lock()  # of jobs and terms
        self._next_look = 0.0
        self._open_tenure = open_tenure
        self._problems = problems
        self._stop = stop
        self._released = threading.Event()
        self._on_begin: Callable[[RunningConnector], None] = RunningConnector.start
        self._seen: tuple[MemberState, int] | None = None
        self._word = ""
        servers = ",".join(target.bootstrap_servers)
        self._identity = Identity(f"{servers} {group}")
        self._looking = self._client(target, _LOOK_SECONDS)
        process = ServiceProcess(host=os.uname().nodename, pid=os.getpid(), url=work.url)
        self._membership = Membership(
            group,
            asking=self._client(target, _JOIN_SECONDS),
            looking=self._looking,
            protocol=Protocol(type=PROTOCOL_TYPE, name=PROTOCOL, metadata=process.metadata()),
            assignments=(RUNS, STANDS_BY),
            instance_id=self._identity.name,
        )
        self._thread = threading.Thread(target=self._run, name=f"{group} member", daemon=True)

    @property
    def leads(self) -> bool:
        """Whether this service, and no other, runs these jobs at this moment."""
        return self._led and self._membership.runs

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
        """A number for the time that this service leads without a break; None: it does not."""
        return self._term if self.leads else None

    def assign(self, jobs: Iterable[ConnectorSpec], term: int | None = None) -> None:
        """What the group stands for from now on; terms of jobs begin and end accordingly, soon. With a
        `term`: if it still lasts."""
        with self._lock:
            if term is None or term == self._term:
                self._jobs = {job.name: job for job in jobs}

    @property
    def decided(self) -> bool:
        return self._membership.state is not MemberState.JOINING

    def start(self, *, bounded: bool) -> None:
        """In a bounded run the work of a term is done by the caller, not by threads of its own."""
        if bounded:
            self._on_begin = lambda tenure: None
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Once `stop` is set and nothing is copied any more."""
        left = time_left(timeout)
        for tenure in self.tenures:
            tenure.close(left(), goodbye=self._membership.runs)
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
                self.hopeless = None
                self._say()
            except ClientError as e:
                delay = backoff.next()
                self.hopeless = None if e.retriable or self._led else e
                self._say(f"{e}; trying again" if e.tried_again else str(e))
            self._follow()
            self._released.wait(min(delay, _TICK_SECONDS))

    # ── terms ────────────────────────────────────────────────────────────────────────────────

    def _follow(self) -> None:
        """Draw the consequences of where we stand."""
        if self._stop.is_set():
            for tenure in self.tenures:
                tenure.over.set()
        elif self._membership.runs:
            self._take_turns()
            self._led = True
        elif self._led:
            self._end()

    def _take_turns(self) -> None:
        """End the terms of jobs that are no more, or not as they were; begin those that are missing."""
        jobs = self._jobs
        for tenure in self.tenures:
            if not tenure.leaving and jobs.get(tenure.job.name) != tenure.job:
                tenure.leave()
            elif tenure.leaving and tenure.released.is_set() and not tenure.over.is_set():
                tenure.over.set()
                self._close_aside([tenure], goodbye=True)
        kept = [tenure for tenure in self.tenures if not tenure.closed.is_set()]
        taken = {tenure.job.name for tenure in kept}
        begun = [self._open_tenure(job) for name, job in jobs.items() if name not in taken]
        if begun or len(kept) < len(self.tenures):
            self.tenures = (*kept, *begun)
        for tenure in begun:
            self._on_begin(tenure)

    def _close_aside(self, tenures: Sequence[RunningConnector], *, goodbye: bool) -> None:
        """What still waits for an answer of a broker may take a while to notice."""
        group = self._membership.seat.group
        threading.Thread(
            target=_close_all, args=(tenures, goodbye), name=f"{group} end", daemon=True
        ).start()

    def _end(self) -> None:
        log.warning(
            "%s: this service does not run it any more: group %s has not confirmed it for the time of a "
            "session, or has named another; copying ends here",
            ", ".join(self.names),
            self._membership.seat.group,
        )
        ended, self.tenures = self.tenures, ()
        with self._lock:
            self._led, self._seen, self._word = False, None, ""
            self._term += 1
            if self._assigned:
                self._jobs = {}
        still_open = [tenure for tenure in ended if not tenure.over.is_set()]
        for tenure in still_open:
            tenure.over.set()
            self._problems.forget(tenure.job.area)
        self._close_aside(still_open, goodbye=False)

    def _leave(self) -> None:
        self._looking.timeout = _LEAVE_SECONDS
        try:
            self._membership.leave()
        except ClientError as e:
            log.info("%s: %s", self._membership.seat.group, e)
        self._membership.close()

    # ── what people see ──────────────────────────────────────────────────────────────────────

    def _say(self, trouble: str | None = None) -> None:
        """Where we stand, once; what is wrong with it, as a problem for as long as it lasts."""
        standing, generation = self._membership.state, self._membership.seat.generation
        if standing is not MemberState.JOINING and (standing, generation) != self._seen:
            self._seen, before = (standing, generation), self._word
            self._word = self._sentence(standing)
            if self._word != before:
                log.info("%s: %s", ", ".join(self.names), self._word)
        self._look_for_leader(standing)
        if trouble is None and standing in (MemberState.REFUSED, MemberState.ALONE):
            trouble = self._word
        self.waits_for = trouble or self._word or "no word of its group yet"
        found = {} if trouble is None else {"": trouble}
        what = "" if self._assigned else "flow "
        for name in self.names:
            self._problems.update(f"{what}{name}: group {self._membership.seat.group}", found)

    def _sentence(self, standing: MemberState) -> str:
        group = self._membership.seat.group
        if standing is MemberState.RUNS:
            return "this service runs it"
        if standing is MemberState.ALONE:
            return (
                f"no permission to join the group {group}, so two services with this configuration cannot "
                "be told apart; run only one, or allow READ on that group"
            )
        others = self._others()
        if standing is MemberState.REFUSED:
            return (
                f"the group {group} is in use by a Java MirrorMaker 2 or Connect worker"
                f"{others and f' ({others})'}, which runs this flow; waiting until it has stopped"
            )
        return (
            f"STANDBY: another Heliograph runs it{others and f' ({others})'}; taking over when that "
            "has stopped, or is silent for some seconds"
        )

    def _look_for_leader(self, standing: MemberState) -> None:
        """While a group rebalances, nobody can tell who runs."""
        now = time.monotonic()
        if standing is not MemberState.STANDS_BY:
            self.leader_url = None
        elif self.leader_url is None and now >= self._next_look:
            self._next_look = now + _LOOK_AGAIN_SECONDS
            self._others()

    def _others(self) -> str:
        """Who runs, as far as the coordinator tells it."""
        described = self._membership.describe()
        if described is None:
            return ""
        running = [m for m in described.members if m.assignment == RUNS]
        processes = [read_process(member.metadata) for member in running]
        self.leader_url = next((p.url for p in processes if p is not None), None)
        return "; ".join(map(str, running or described.members))

    def _lapsed(self) -> bool:
        """A question must not keep us from seeing that our time is up, nor from a stop, if we run nothing."""
        if self._released.is_set():
            return False
        return not self._membership.runs if self._led else self._stop.is_set()

    def _client(self, target: ClusterConfig, timeout: float) -> ClusterClient:
        # As Connect's workers call themselves in MM2.
        return ClusterClient(target, client_id=self.names[0], timeout=timeout, stopped=self._lapsed)


def _close_all(tenures: Sequence[RunningConnector], goodbye: bool) -> None:
    for tenure in tenures:
        tenure.close(_JOIN_SECONDS, goodbye=goodbye)
