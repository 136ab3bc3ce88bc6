"""`heliograph serve`: runs a worker of a Connect cluster for MirrorMaker 2's connectors."""

from __future__ import annotations

import gc
import logging
import os
import threading
from contextlib import closing
from pathlib import Path

from heliograph.cli.commands.run import (
    ALLOCATIONS_PER_COLLECTION,
    log_to_stderr,
    stopping_on_signals,
    write_for_this_user_only,
)
from heliograph.cli.output.progress_display import show_progress
from heliograph.client.security.key_files import sweep_key_folders
from heliograph.config.connectors.read_connectors import assemble
from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.connectors.worker import load_worker
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.connect.worker_herder import WorkerHerder, work_group
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress
from heliograph.runtime.slots import slots_here
from heliograph.spark.session import ClusterSpark, LocalSpark
from heliograph.web.listener.server import RestServer, now_ms

log = logging.getLogger(__name__)

#: Task slots requested from a Spark cluster, since the number of connectors is not known yet.
_CLUSTER_SLOTS = 16


def serve(path: Path | None, *, master: str | None) -> int:
    """Runs until a signal stops it."""
    log_to_stderr()
    write_for_this_user_only()
    sweep_key_folders()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    worker = load_worker(path)
    for warning in worker.warnings:
        log.warning("%s", warning)
    rest = read_rest_config({n: each.value for n, each in worker.settings.items()}, os.environ)
    url = rest.advertised_url(os.uname().nodename)
    spark = LocalSpark(slots_here()) if master is None else ClusterSpark(master, _CLUSTER_SLOTS)
    stop, progress, levels = threading.Event(), Progress(), LoggerLevels(now_ms)
    with closing(spark), stopping_on_signals(stop), show_progress(progress):
        mirror = Mirror(
            assemble([], worker),
            spark,
            stop=stop,
            progress=progress,
            group=work_group(worker, url),
        )
        herder = WorkerHerder(worker, url, mirror, progress, levels.set)
        server = RestServer(rest, herder, levels, herder.set_level_everywhere)
        server.start()
        herder.start()
        try:
            mirror.run()
        finally:
            server.stop()
            herder.close()
    log.info("worker %s has stopped", url)
    return 0
