"""Serves Connect's REST API for `heliograph run`, over the connectors of its file."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heliograph.cli.metrics import metrics
from heliograph.cli.page import page_of
from heliograph.config.connectors.rest import RestConfig, read_rest_config
from heliograph.config.formats.convert.conversion import read_outline
from heliograph.config.mirror_config import MirrorConfig
from heliograph.connect.dedicated_herder import DedicatedHerder
from heliograph.connect.herder import Forbidden
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import ConfigError
from heliograph.runtime.driver import Mirror
from heliograph.runtime.metering.scrape import Scrape
from heliograph.runtime.progress import Progress
from heliograph.web.listener.server import RestServer, now_ms
from heliograph.web.ui.page import Page

log = logging.getLogger(__name__)


@contextmanager
def rest_api(
    path: Path, worker: Path | None, config: MirrorConfig, mirror: Mirror, progress: Progress
) -> Iterator[None]:
    """Serves while the block runs: the REST API, unless `listeners` is set and empty, and metrics. Raises
    ConfigError."""
    settings = dict(config.rest)
    off = "listeners" in settings and not settings["listeners"].strip()
    rest = None if off else read_rest_config(settings, os.environ, dedicated=True)
    url = "" if rest is None else rest.advertised_url(os.uname().nodename)
    writable = settings.get("rest.writable", "").strip().lower() == "true"
    herder = DedicatedHerder(
        mirror,
        progress,
        connector_configs(path, worker),
        worker_id=url.partition("://")[2].rstrip("/") or os.uname().nodename,
        writable=writable,
    )
    with metrics(config.metrics, mirror, progress, herder) as scrape:
        server = None
        if rest is not None:
            page = page_of(mirror, progress, herder, lambda: config, writable=writable)
            server = _started(rest, herder, scrape, page, asked_for="listeners" in settings)
        try:
            yield
        finally:
            if server is not None:
                server.stop()


def connector_configs(path: Path, worker: Path | None) -> Mapping[str, Mapping[str, str]]:
    """Configurations as MM2 gives them to its connectors, by connector name; placeholders stay."""
    found: dict[str, Mapping[str, str]] = {}
    for each in (c for its in read_outline(path, worker).workers for c in its.connectors):
        config = {
            "name": each.name,
            "connector.class": each.kind.java_name,
            "source.cluster.alias": each.source,
            "target.cluster.alias": each.target,
            **each.config,
        }
        for name in (each.name, f"{each.pair}.{each.kind}"):
            found[name] = {**config, "name": str(name)}
    return found


def _started(
    rest: RestConfig, herder: DedicatedHerder, scrape: Scrape, page: Page, *, asked_for: bool
) -> RestServer | None:
    levels = LoggerLevels(now_ms)
    server = RestServer(rest, herder, levels, _refuse_cluster_scope, scrape=scrape, page=page)
    try:
        server.start()
    except ConfigError as e:
        if asked_for:
            raise
        # The user did not set listeners: mirror without the REST API.
        log.warning("%s; running without the REST API; set listeners to another port to have it", e)
        return None
    page.start()
    return server


def _refuse_cluster_scope(_logger: str, _level: str) -> None:
    raise Forbidden(
        "This service is not a worker of a Connect cluster; levels are set for it alone"
    )
