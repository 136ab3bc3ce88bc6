"""Everyone who works beside the copy: who decides what this service runs, and the terms that follow."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from heliograph.config.mirror_config import FlowConfig, Heartbeats, MirrorConfig
from heliograph.errors import ClientError
from heliograph.model import Receipt
from heliograph.service.flow import ObservedFlow
from heliograph.service.leadership import Leadership
from heliograph.service.loop_guard import LoopGuard
from heliograph.service.problems import Problems
from heliograph.service.progress import Progress
from heliograph.service.tenure import Tenure


class Crew:
    """A leadership for every group of workers: one of each pair of clusters, unless a user's `group.id`
    makes it that of several."""

    def __init__(
        self,
        config: MirrorConfig,
        progress: Progress,
        problems: Problems,
        stop: threading.Event,
        slots: int,
    ) -> None:
        self._config = config
        self._slots = slots
        self._progress = progress
        self._problems = problems
        self._since_ms = int(time.time() * 1000)
        self._guard = LoopGuard(config.flows, self._since_ms)
        self._leaderships = [
            Leadership(group, config.cluster(target), pairs, self._open, problems, stop)
            for (target, group), pairs in _pairs_by_group(config).items()
        ]

    def start(self, *, bounded: bool = False) -> None:
        """Join the groups. Unless the run is bounded, everything else follows by itself."""
        for leadership in self._leaderships:
            leadership.start(bounded=bounded)

    @property
    def flows(self) -> list[ObservedFlow]:
        """Those that this service, and no other, runs at this moment."""
        return [
            tenure.flow
            for leadership in self._leaderships
            if leadership.leads
            for tenure in leadership.tenures
            if tenure.flow is not None
        ]

    @property
    def last_flows(self) -> list[ObservedFlow]:
        """Those that it ran last; for the end of a run."""
        return [tenure.flow for tenure in self._tenures if tenure.flow is not None]

    @property
    def settled_in(self) -> bool:
        """Whether it is decided who runs what, and what runs here has been observed."""
        decided = all(leadership.decided for leadership in self._leaderships)
        return decided and all(flow.observed for flow in self.flows)

    def hopeless(self) -> ClientError | None:
        """Why waiting will not help, if that is so for every flow; what people mend while a service runs
        comes first."""
        found: list[ClientError | None] = []
        for leadership in self._of_flows():
            flows = [tenure.flow for tenure in leadership.tenures if tenure.flow is not None]
            found += [flow.hopeless for flow in flows] or [leadership.hopeless]
        causes = sorted(
            (e for e in found if e is not None), key=lambda e: e.tried_again, reverse=True
        )
        return causes[0] if causes and len(causes) == len(found) else None

    def waits_for(self) -> str | None:
        """What keeps this service from running all of its flows; None: nothing."""
        for leadership in self._of_flows():
            if not leadership.leads:
                return f"{', '.join(leadership.names)}: {leadership.waits_for}"
        return None

    def _of_flows(self) -> list[Leadership]:
        """Not those of heartbeats alone."""
        names = {flow.name for flow in self._config.flows}
        return [each for each in self._leaderships if names.intersection(each.names)]

    def before_copying(self) -> None:
        """A bounded run's share of it, once its flows are observed."""
        for tenure in self._tenures:
            tenure.before_copying()

    def after_copying(self) -> None:
        for tenure in self._tenures:
            tenure.after_copying()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """What tasks have copied; from any thread."""
        told = list(receipts)
        for tenure in self._tenures:
            tenure.learn(told)

    def close(self, timeout: float) -> None:
        """Once `stop` is set."""
        for leadership in self._leaderships:
            leadership.close(timeout)

    @property
    def _tenures(self) -> list[Tenure]:
        return [tenure for leadership in self._leaderships for tenure in leadership.tenures]

    def _open(self, pair: tuple[str, str]) -> Tenure:
        return Tenure(
            self._config,
            pair,
            self._guard,
            self._progress,
            self._problems,
            since_ms=self._since_ms,
            slots=self._slots,
        )


def _pairs_by_group(config: MirrorConfig) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """(source, target) of all that runs, by target and group."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    everything: list[FlowConfig | Heartbeats] = [*config.flows, *config.heartbeats]
    for each in everything:
        pairs = found.setdefault((each.target, each.group_id), [])
        if (each.source, each.target) not in pairs:
            pairs.append((each.source, each.target))
    return found
