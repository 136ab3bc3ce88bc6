"""The page of a running mirror, for the REST API of `run`, `serve` and `demo`."""

from __future__ import annotations

from heliograph.config.security.secrets import hidden
from heliograph.connect.herder import Herder
from heliograph.runtime.connectors.connector_spec import Part
from heliograph.runtime.driver import Mirror
from heliograph.runtime.metering.collect import reachable_clusters
from heliograph.runtime.progress import Progress
from heliograph.web.ui.page import Page
from heliograph.web.ui.publisher import Publisher
from heliograph.web.ui.sources import Configured


def page_of(
    mirror: Mirror,
    progress: Progress,
    herder: Herder,
    configured: Configured,
    *,
    writable: bool,
) -> Page:
    publisher = Publisher(progress, mirror.problems, lambda: unreachable_clusters(mirror, progress))
    return Page(publisher, mirror.events, herder, configured, hidden, writable=writable)


def unreachable_clusters(mirror: Mirror, progress: Progress) -> dict[str, tuple[str, ...]]:
    """By flow, also of those that this service does not run at the moment."""
    copies = [
        job
        for leadership in mirror.worker.leaderships
        for job in leadership.jobs
        if job.part is Part.COPY
    ]
    return {
        job.flow().name: tuple(
            alias
            for alias, reached in reachable_clusters(mirror.worker, job.name, progress).items()
            if not reached
        )
        for job in copies
    }
