"""Where the page's values come from: the publisher's snapshot, the herder, and both clusters while somebody
looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing

from heliograph.config.connectors.connector_class import connector_class
from heliograph.config.mirror_config import MirrorConfig
from heliograph.connect.herder import Herder, NotFound, State
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.dry_run import plan_mirror
from heliograph.inspection.mirror_plan import MirrorPlan
from heliograph.inspection.mirror_status import MirrorStatus
from heliograph.inspection.status import observe_mirror
from heliograph.web.ui.publisher import Publisher
from heliograph.web.ui.refreshed import Refreshed
from heliograph.web.ui.snapshot import ConnectorView, Snapshot, TaskView

#: Gives the flows that this service should run, or those of its worker's connectors.
Configured = Callable[[], MirrorConfig]
#: Shows a configuration, with its secrets hidden.
Showing = Callable[[Mapping[str, str]], Mapping[str, str]]

_CONNECTORS_SECONDS = 1.0
_STATUS_SECONDS = 5.0
_PLAN_SECONDS = 30.0
_CLIENT_ID = "heliograph-page"


class Sources:
    def __init__(
        self, publisher: Publisher, herder: Herder, configured: Configured, shown: Showing
    ) -> None:
        self._publisher = publisher
        self.connectors: Refreshed[tuple[ConnectorView, ...]] = Refreshed(
            "connectors",
            lambda: read_connectors(herder, shown),
            fresh_seconds=_CONNECTORS_SECONDS,
        )
        self.status: Refreshed[MirrorStatus] = Refreshed(
            "status", lambda: _status(configured()), fresh_seconds=_STATUS_SECONDS
        )
        self.plan: Refreshed[MirrorPlan] = Refreshed(
            "plan", lambda: _plan(configured()), fresh_seconds=_PLAN_SECONDS
        )

    @property
    def snapshot(self) -> Snapshot:
        return self._publisher.look()


def read_connectors(herder: Herder, shown: Showing) -> tuple[ConnectorView, ...]:
    """Raises HerderError. A connector that is deleted meanwhile is left out."""
    found = []
    for name in sorted(herder.connectors()):
        try:
            config = herder.config(name)
        except NotFound:
            continue
        found.append(_connector(name, config, herder, shown))
    return tuple(found)


def _connector(
    name: str, config: Mapping[str, str], herder: Herder, shown: Showing
) -> ConnectorView:
    try:
        status = herder.status(name)
        state, tasks = status.connector, status.tasks
    except NotFound:  # created a moment ago
        state, tasks = State("UNASSIGNED", "", "It has no status yet."), {}
    written = config.get("connector.class", name.rpartition(".")[2])
    kind = connector_class(written)
    pair = name.partition(".")[0].partition("->")
    return ConnectorView(
        name=name,
        kind=written if kind is None else kind.value,
        source=config.get("source.cluster.alias", pair[0]),
        target=config.get("target.cluster.alias", pair[2]),
        state=state.state,
        worker=state.worker_id,
        trace=state.trace,
        tasks=tuple(
            TaskView(number=number, state=each.state, worker=each.worker_id, trace=each.trace)
            for number, each in sorted(tasks.items())
        ),
        config=tuple(sorted(shown(config).items())),
    )


def _status(config: MirrorConfig) -> MirrorStatus:
    with closing(Clusters(config, client_id=_CLIENT_ID)) as clusters:
        return observe_mirror(config, clusters)


def _plan(config: MirrorConfig) -> MirrorPlan:
    with closing(Clusters(config, client_id=_CLIENT_ID)) as clusters:
        return plan_mirror(config, clusters)
