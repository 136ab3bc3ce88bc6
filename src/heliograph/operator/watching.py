"""Watches resources with kopf, and reconciles each that is ours when it changes and every 10 s.

Only kopf's event handlers are used: they leave neither finalizers nor annotations on the resources, which are
Strimzi's as much as ours.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import kopf

from heliograph.errors import EnvironmentProblem, HeliographError
from heliograph.operator.reconcile import Reconciler
from heliograph.operator.resource import GROUP, PLURAL, Object

log = logging.getLogger(__name__)

_ROUND_SECONDS = 10.0


class Watch:
    """The resources that exist, by namespace and name; one thread reconciles them."""

    def __init__(self, reconciler: Reconciler, selector: Mapping[str, str]) -> None:
        self._reconciler = reconciler
        self._selector = selector
        self._known: dict[tuple[str, str], Object] = {}
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._stop = threading.Event()

    def seen(self, resource: Object, *, deleted: bool) -> None:
        metadata = resource["metadata"]
        key = metadata["namespace"], metadata["name"]
        with self._lock:
            if deleted:
                self._known.pop(key, None)
            else:
                self._known[key] = resource
        self._changed.set()

    def ours(self, resource: Object) -> bool:
        labels = resource["metadata"].get("labels") or {}
        return all(labels.get(name) == value for name, value in self._selector.items())

    def run(self) -> None:
        while not self._stop.is_set():
            self._changed.wait(_ROUND_SECONDS)
            self._changed.clear()
            if not self._stop.is_set():
                self.round()

    def round(self) -> None:
        with self._lock:
            resources = list(self._known.values())
        for each in resources:
            self._one(each)

    def stop(self) -> None:
        self._stop.set()
        self._changed.set()

    def _one(self, resource: Object) -> None:
        metadata = resource["metadata"]
        try:
            if not self.ours(resource):
                self._reconciler.release(resource)
            elif "deletionTimestamp" not in metadata:
                # The event of our own status comes later: until then it is what we wrote.
                resource["status"] = self._reconciler.reconcile(resource)
        except HeliographError as e:
            log.error("%s/%s: %s; trying again", metadata["namespace"], metadata["name"], e)


def parse_selector(text: str) -> dict[str, str]:
    """name=value, separated by commas."""
    pairs = (each.partition("=") for each in text.split(",") if each.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def watch(watch: Watch, namespaces: Sequence[str], stop: threading.Event) -> None:
    """Returns when `stop` is set. Raises EnvironmentProblem if watching or reconciling ends before."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**given: Any) -> kopf.ConnectionInfo | None:
        within = kopf.login_with_service_account(**given)
        return within or kopf.login_with_kubeconfig(**given)

    @kopf.on.startup(registry=registry)
    def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False  # events would need another right
        settings.scanning.disabled = True  # and so would looking for new kinds and namespaces

    @kopf.on.event(GROUP, PLURAL, registry=registry)
    def changed(event: Any, body: Any, **_: Any) -> None:
        resource = _plain(body)
        watch.seen(resource, deleted=event.get("type") == "DELETED")

    thread = threading.Thread(target=watch.run, name="reconcile", daemon=True)
    thread.start()
    try:
        asyncio.run(_serve(registry, namespaces, lambda: stop.is_set() or not thread.is_alive()))
        if not stop.is_set():
            raise EnvironmentProblem(
                "operator: ended by an error, which the log shows; start it again: mirrors run on meanwhile"
            )
    finally:
        watch.stop()
        thread.join(_ROUND_SECONDS)


async def _serve(
    registry: kopf.OperatorRegistry, namespaces: Sequence[str], over: Callable[[], bool]
) -> None:
    ended = asyncio.Event()
    serving = asyncio.ensure_future(
        kopf.operator(
            registry=registry,
            namespaces=list(namespaces),
            clusterwide=not namespaces,
            standalone=True,
            stop_flag=ended,
        )
    )
    while not over() and not serving.done():
        await asyncio.sleep(0.2)
    ended.set()
    await serving


def _plain(value: Any) -> Any:
    """kopf's views of a body, as dictionaries and lists of our own."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
