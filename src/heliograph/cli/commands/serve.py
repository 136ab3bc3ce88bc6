"""`heliograph serve`: runs a worker of a Connect cluster for MirrorMaker 2's connectors."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from heliograph.cli.commands.run import (
    ALLOCATIONS_PER_COLLECTION,
    stopping_on_signals,
    write_for_this_user_only,
)
from heliograph.cli.metrics import metrics
from heliograph.cli.output.logs import LogOptions, start_logging
from heliograph.cli.output.progress_display import show_progress
from heliograph.cli.page import page_of
from heliograph.cli.spark_options import SparkOptions
from heliograph.client.security.key_files import sweep_key_folders
from heliograph.config.connectors.read_connectors import assemble
from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.kubernetes import read_kubernetes
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.connect.worker_herder import WorkerHerder, work_group
from heliograph.inspection.worker_connectors import read_worker_connectors
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress
from heliograph.runtime.slots import slots_here
from heliograph.web.listener.server import RestServer, now_ms

log = logging.getLogger(__name__)

#: Task slots requested from a Spark cluster, since the number of connectors is not known yet.
_CLUSTER_SLOTS = 16


def serve(
    path: Path | None, logs: LogOptions, *, spark: SparkOptions, secrets: Sequence[Path] = ()
) -> int:
    """Runs until a signal stops it. `secrets`: Secrets and ConfigMaps for Strimzi's config providers."""
    start_logging(logs)
    write_for_this_user_only()
    sweep_key_folders()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    worker = load_worker(path, secrets=read_kubernetes(secrets))
    for warning in worker.warnings:
        log.warning("%s", warning)
    rest = read_rest_config({n: each.value for n, each in worker.settings.items()}, os.environ)
    url = rest.advertised_url(os.uname().nodename)
    session = spark.start(here=slots_here(), on_cluster=_CLUSTER_SLOTS)
    stop, progress, levels = threading.Event(), Progress(), LoggerLevels(now_ms)
    shown = show_progress(progress, stop, plain=logs.as_json)
    with closing(session), stopping_on_signals(stop), shown as display:
        mirror = Mirror(
            assemble([], worker),
            session,
            stop=stop,
            progress=progress,
            group=work_group(worker, url),
        )
        display.follow(mirror)
        herder = WorkerHerder(worker, url, mirror, progress, levels.set)
        page = page_of(
            mirror,
            progress,
            herder,
            lambda: read_worker_connectors(worker, "heliograph-page").mirror,
            writable=True,
        )
        with metrics(worker.metrics, mirror, progress, herder) as scrape:
            everywhere = herder.set_level_everywhere
            server = RestServer(rest, herder, levels, everywhere, scrape=scrape, page=page)
            server.start()
            page.start()
            herder.start()
            try:
                mirror.run()
            finally:
                server.stop()
                herder.close()
    log.info("worker %s has stopped", url)
    return 0
