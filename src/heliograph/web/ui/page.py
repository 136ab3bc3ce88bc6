"""The page at /ui: its routes, and one view for each address.

An address answers with a whole page or, as text/event-stream, with its live part again whenever that changes.
Both are rendered from one snapshot by a function of `views/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from heliograph.connect.herder import Herder
from heliograph.runtime.events import EventKind, EventLog
from heliograph.web.exchange import EVENT_STREAM, RestRequest, RestResponse
from heliograph.web.routing import Route
from heliograph.web.streams import Streams, wants_stream
from heliograph.web.ui.actions import ACTIONS, Actions
from heliograph.web.ui.live import LivePart, View
from heliograph.web.ui.publisher import Publisher
from heliograph.web.ui.refreshed import Reading
from heliograph.web.ui.rendering import html, rendered, static_file
from heliograph.web.ui.snapshot import ConnectorView
from heliograph.web.ui.sources import Configured, Showing, Sources
from heliograph.web.ui.views.connectors import connectors_page
from heliograph.web.ui.views.dry_run import plan_page
from heliograph.web.ui.views.flow import flow_page
from heliograph.web.ui.views.flows import known_flows
from heliograph.web.ui.views.groups import groups_page
from heliograph.web.ui.views.links import HOME
from heliograph.web.ui.views.overview import overview
from heliograph.web.ui.views.timeline import timeline
from heliograph.web.ui.views.topics import topics_page

_PRODUCES = ("text/html", EVENT_STREAM)
#: How long the first look at the connectors may take; they are in memory, but for a starting worker.
_WAIT_SECONDS = 1.0
_LONGEST_QUERY = 200
NAVIGATION = (
    (HOME, "Map"),
    (f"{HOME}/groups", "Groups"),
    (f"{HOME}/topics", "Topics"),
    (f"{HOME}/events", "Events"),
    (f"{HOME}/connectors", "Connectors"),
    (f"{HOME}/plan", "Plan"),
)


class Page:
    """Between `start` and `close`. Requests are answered on threads; all share one snapshot."""

    def __init__(
        self,
        publisher: Publisher,
        events: EventLog,
        herder: Herder,
        configured: Configured,
        shown: Showing,
        *,
        writable: bool,
    ) -> None:
        self.events = events
        self.streams = Streams()
        self._publisher = publisher
        self._sources = Sources(publisher, herder, configured, shown)
        self._writable = writable
        self._actions = Actions(herder, self._sources.connectors.expire)

    def start(self) -> None:
        self._publisher.start()

    def close(self) -> None:
        self.streams.close()
        self._publisher.close()

    def routes(self) -> list[Route]:
        views = {
            HOME: self._overview,
            f"{HOME}/flows/{{flow}}": self._flow,
            f"{HOME}/groups": self._groups,
            f"{HOME}/topics": self._topics,
            f"{HOME}/events": self._events,
            f"{HOME}/connectors": self._connectors,
            f"{HOME}/plan": self._plan,
        }
        return [
            *(_route("GET", path, partial(self._answer, view)) for path, view in views.items()),
            *(
                _route("POST", f"{HOME}/connectors/{{connector}}/{name}", self._act(name))
                for name in ACTIONS
            ),
            Route(
                template=f"{HOME}/static/{{file}}",
                method="GET",
                handler=lambda call: static_file(call.path["file"]),
                consumes=False,
                produces=("text/css", "text/javascript", "image/svg+xml", "text/plain"),
            ),
        ]

    # ── answers ──────────────────────────────────────────────────────────────────────────────

    def _answer(self, view: Callable[[RestRequest], View], call: RestRequest) -> RestResponse:
        if wants_stream(call):
            return self.streams.respond(LivePart(partial(view, call)).following)
        return self._whole(view(call), call)

    def _whole(self, found: View, call: RestRequest, alert: str = "") -> RestResponse:
        query = urlencode(
            [(name, value) for name in ("q", "all", "kind") for value in call.query.get(name, ())]
        )
        done = call.first("done") or ""
        text = rendered(
            "base.html",
            view=found.template,
            title=found.title,
            page=found.page,
            navigation=NAVIGATION,
            here=call.target.rstrip("/"),
            follow=f"{call.target}?{query}" if query else call.target,
            done=ACTIONS.get(done, ""),
            subject=(call.first("connector") or "")[:_LONGEST_QUERY],
            alert=alert,
        )
        return html(text, found.status)

    def _act(self, name: str) -> Callable[[RestRequest], RestResponse]:
        def act(call: RestRequest) -> RestResponse:
            refused = self._actions.carry_out(name, call)
            if isinstance(refused, RestResponse):
                return refused
            where = replace(call, target=f"{HOME}/connectors", query={})
            found = replace(self._connectors(where), status=refused.status)
            return self._whole(found, where, alert=str(refused))

        return act

    # ── views ────────────────────────────────────────────────────────────────────────────────

    def _overview(self, call: RestRequest) -> View:
        connectors, note = self._known_connectors()
        page = overview(self._sources.snapshot, connectors, note)
        return View(template="overview.html", title="Map", page=page)

    def _flow(self, call: RestRequest) -> View:
        name, snapshot = call.path["flow"], self._sources.snapshot
        connectors, _ = self._known_connectors()
        flow = next((each for each in known_flows(snapshot, connectors) if each.name == name), None)
        if flow is None:
            return View(template="missing.html", title="No such flow", page=name, status=404)
        reading = self._sources.status.current()
        flows = () if reading.value is None else reading.value.flows
        page = flow_page(
            flow,
            snapshot,
            next((each for each in flows if each.name == name), None),
            query=_query(call),
            everything=call.flag("all"),
            observation=_observation(reading),
            read_ms=reading.at_ms,
        )
        return View(template="flow.html", title=name, page=page, rows=page.rows)

    def _groups(self, call: RestRequest) -> View:
        reading = self._sources.status.current()
        page = groups_page(
            reading.value,
            query=_query(call),
            everything=call.flag("all"),
            observation=_observation(reading),
        )
        return View(template="groups.html", title="Groups", page=page)

    def _topics(self, call: RestRequest) -> View:
        reading = self._sources.plan.current()
        page = topics_page(
            reading.value,
            self._sources.snapshot,
            query=_query(call),
            everything=call.flag("all"),
            observation=_observation(reading),
        )
        return View(template="topics.html", title="Topics", page=page)

    def _events(self, call: RestRequest) -> View:
        kind = call.first("kind") or ""
        page = timeline(self.events.since(), kind if kind in list(EventKind) else "")
        return View(template="events.html", title="Events", page=page)

    def _connectors(self, call: RestRequest) -> View:
        connectors, note = self._known_connectors()
        page = connectors_page(
            connectors, writable=self._writable, may_write=call.may_write, note=note
        )
        return View(template="connectors.html", title="Connectors", page=page)

    def _plan(self, call: RestRequest) -> View:
        reading = self._sources.plan.current()
        page = plan_page(reading.value, _observation(reading))
        return View(template="plan.html", title="Plan", page=page)

    def _known_connectors(self) -> tuple[tuple[ConnectorView, ...], str | None]:
        reading = self._sources.connectors.current(wait=_WAIT_SECONDS)
        return reading.value or (), reading.failure


def _route(method: str, path: str, handler: Callable[[RestRequest], RestResponse]) -> Route:
    return Route(template=path, method=method, handler=handler, consumes=False, produces=_PRODUCES)


def _query(call: RestRequest) -> str:
    return (call.first("q") or "").strip()[:_LONGEST_QUERY]


def _observation(reading: Reading[Any]) -> str | None:
    """Why a page has nothing to show, or something old."""
    if reading.failure is not None:
        return reading.failure
    return "Reading both clusters …" if reading.value is None else None
