"""One service at a time: a flow is run by the service that leads the group of its workers on the target.

The group is that of Connect's workers, `<source>-mm2`. Of several Heliographs one runs, the others stand by
and take over when it has left, or has been silent for a session (6 s). While a Java MirrorMaker 2 is in the
group we wait, and so the other way round. docs/decisions/0011-one-service-at-a-time.md
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence

from heliograph.client.backoff import Backoff
from heliograph.client.cluster import ClusterClient
from heliograph.client.group_requests import Protocol
from heliograph.client.membership import Membership, Standing
from heliograph.errors import ClientError
from heliograph.machine.identity import Identity
from heliograph.mm2.service_member import (
    PROTOCOL,
    PROTOCOL_TYPE,
    RUNS,
    STANDS_BY,
    ServiceProcess,
)
from heliograph.model import ClusterConfig
from heliograph.service.problems import Problems
from heliograph.service.tenure import Tenure

log = logging.getLogger(__name__)

#: Longer than a rebalance takes; what has a deadline of its own is asked with the second.
_JOIN_SECONDS = 60.0
_LOOK_SECONDS = 2.0
_LEAVE_SECONDS = 1.0
_TICK_SECONDS = 0.2


class Leadership:
    """A thread that holds the place of this service in one group, and begins and ends the terms of the
    pairs of clusters that the group stands for."""

    def __init__(
        self,
        group: str,
        target: ClusterConfig,
        pairs: Sequence[tuple[str, str]],
        open_tenure: Callable[[tuple[str, str]], Tenure],
        problems: Problems,
        stop: threading.Event,
    ) -> None:
        self.names = tuple(f"{source}->{target}" for source, target in pairs)
        self.tenures: tuple[Tenure, ...] = ()
        self.hopeless: ClientError | None = None  # why waiting will not help
        self.waits_for = ""
        self._pairs = tuple(pairs)
        self._open_tenure = open_tenure
        self._problems = problems
        self._stop = stop
        self._released = threading.Event()
        self._on_begin: Callable[[Tenure], None] = Tenure.start
        self._seen: tuple[Standing, int] | None = None
        self._word = ""
        servers = ",".join(target.bootstrap_servers)
        self._identity = Identity(f"{servers} {group}")
        self._looking = self._client(target, _LOOK_SECONDS)
        process = ServiceProcess(host=os.uname().nodename, pid=os.getpid())
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
        """Whether this service, and no other, runs these pairs at this moment."""
        return bool(self.tenures) and self._membership.runs

    @property
    def decided(self) -> bool:
        return self._membership.standing is not Standing.JOINING

    def start(self, *, bounded: bool) -> None:
        """In a bounded run the work of a term is done by the caller, not by threads of its own."""
        if bounded:
            self._on_begin = lambda tenure: None
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Once `stop` is set and nothing is copied any more."""
        for tenure in self.tenures:
            tenure.close(timeout, goodbye=self._membership.runs)
        self._released.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
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
                self.hopeless = None if e.retriable or self.tenures else e
                self._say(f"{e}; trying again" if e.tried_again else str(e))
            self._follow()
            self._released.wait(min(delay, _TICK_SECONDS))

    # ── terms ────────────────────────────────────────────────────────────────────────────────

    def _follow(self) -> None:
        """Draw the consequences of where we stand."""
        if self._stop.is_set():
            for tenure in self.tenures:
                tenure.over.set()
        elif self._membership.runs and not self.tenures:
            self.tenures = tuple(self._open_tenure(pair) for pair in self._pairs)
            for tenure in self.tenures:
                self._on_begin(tenure)
        elif self.tenures and not self._membership.runs:
            self._end()

    def _end(self) -> None:
        log.warning(
            "%s: this service does not run it any more: group %s has not confirmed it for the time of a "
            "session, or has named another; copying ends here",
            ", ".join(self.names),
            self._membership.seat.group,
        )
        ended, self.tenures = self.tenures, ()
        self._seen, self._word = None, ""
        for tenure in ended:
            tenure.over.set()
        for name in self.names:
            self._problems.forget(f"flow {name}")
        # What still waits for an answer of a broker may take a while to notice.
        threading.Thread(
            target=_close_all, args=(ended,), name=f"{self._membership.seat.group} end", daemon=True
        ).start()

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
        standing, generation = self._membership.standing, self._membership.seat.generation
        if standing is not Standing.JOINING and (standing, generation) != self._seen:
            self._seen, before = (standing, generation), self._word
            self._word = self._sentence(standing)
            if self._word != before:
                log.info("%s: %s", ", ".join(self.names), self._word)
        if trouble is None and standing in (Standing.REFUSED, Standing.ALONE):
            trouble = self._word
        self.waits_for = trouble or self._word or "no word of its group yet"
        found = {} if trouble is None else {"": trouble}
        for name in self.names:
            self._problems.update(f"flow {name}: group {self._membership.seat.group}", found)

    def _sentence(self, standing: Standing) -> str:
        group = self._membership.seat.group
        if standing is Standing.RUNS:
            return "this service runs it"
        if standing is Standing.ALONE:
            return (
                f"no permission to join the group {group}, so two services with this configuration cannot "
                "be told apart; run only one, or allow READ on that group"
            )
        others = self._others()
        if standing is Standing.REFUSED:
            return (
                f"the group {group} is in use by a Java MirrorMaker 2 or Connect worker"
                f"{others and f' ({others})'}, which runs this flow; waiting until it has stopped"
            )
        return (
            f"STANDBY: another Heliograph runs it{others and f' ({others})'}; taking over when that "
            "has stopped, or is silent for some seconds"
        )

    def _others(self) -> str:
        """Who runs, as far as the coordinator tells it."""
        described = self._membership.describe()
        if described is None:
            return ""
        running = [m for m in described.members if m.assignment == RUNS]
        return "; ".join(map(str, running or described.members))

    def _lapsed(self) -> bool:
        """A question must not keep us from seeing that our time is up."""
        return bool(self.tenures) and not self._membership.runs and not self._released.is_set()

    def _client(self, target: ClusterConfig, timeout: float) -> ClusterClient:
        # As Connect's workers call themselves in MM2.
        return ClusterClient(target, client_id=self.names[0], timeout=timeout, stopped=self._lapsed)


def _close_all(tenures: Sequence[Tenure]) -> None:
    for tenure in tenures:
        tenure.close(_JOIN_SECONDS, goodbye=False)
