"""`heliograph run`: dedicated mode, a drop-in replacement for connect-mirror-maker.sh."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import typer

from heliograph.cli.output.escaping import visible
from heliograph.cli.output.logs import LogOptions, start_logging
from heliograph.cli.output.progress_display import show_progress
from heliograph.cli.rest import rest_api
from heliograph.cli.spark_options import SparkOptions
from heliograph.client.security.key_files import sweep_key_folders
from heliograph.config.formats.load import LoadOptions, load
from heliograph.counted import counted
from heliograph.runtime.driver import Mirror
from heliograph.runtime.outcome import Outcome
from heliograph.runtime.progress import Progress
from heliograph.runtime.slots import slots_for

log = logging.getLogger(__name__)

#: A mirror of many topics and groups creates tens of thousands of objects per cycle, next to hundreds of
#: thousands that stay, and hardly any reference cycles. Python's default, a collection every 700 allocations,
#: would waste CPU.
ALLOCATIONS_PER_COLLECTION = 50_000


def run(
    path: Path, options: LoadOptions, logs: LogOptions, *, once: bool, spark: SparkOptions
) -> int:
    start_logging(logs)
    write_for_this_user_only()
    sweep_key_folders()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    config = load(path, options)
    for warning in config.warnings:
        log.warning("%s", warning)
    most = max((flow.tasks_max for flow in config.flows), default=1)
    session = spark.start(here=slots_for(config), on_cluster=most)
    stop, progress = threading.Event(), Progress()
    shown = show_progress(progress, stop, plain=logs.as_json)
    with closing(session), stopping_on_signals(stop), shown as display:
        mirror = Mirror(config, session, once=once, stop=stop, progress=progress)
        display.follow(mirror)
        if once:
            outcome = mirror.run()
        else:
            with rest_api(path, options.worker, config, mirror, progress):
                outcome = mirror.run()
    return report(outcome, once=once)


def report(outcome: Outcome, *, once: bool) -> int:
    for receipt in outcome.unfinished:
        typer.echo(
            f"{receipt.state}: {receipt.flow} {receipt.topic}-{receipt.partition} stopped at source offset "
            f"{receipt.position}: {visible(receipt.error or 'not copied to its end')}",
            err=True,
        )
    for problem in outcome.problems:
        typer.echo(visible(f"not mirrored: {problem}"), err=True)
    if outcome.quarantined:
        typer.echo(
            f"not mirrored: {counted(outcome.quarantined, 'record')} in quarantine", err=True
        )
    offsets = "offsets are stored"
    if outcome.unstored:
        offsets = (
            f"the last offsets of {counted(len(outcome.unstored), 'partition')} are NOT stored: the next run "
            "copies records after the stored offsets again"
        )
    typer.echo(f"mirrored {counted(outcome.records, 'record')}; {offsets}")
    return 1 if outcome.unstored or (once and not outcome.good) else 0


def write_for_this_user_only() -> None:
    """Sets the umask for this process and its children: Spark's JVM and workers write records to temporary
    folders, and Spark leaves it to the umask whether other users can read them."""
    os.umask(0o077)


@contextmanager
def stopping_on_signals(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM ask for an orderly stop; a second one ends the process at once."""

    def on_signal(number: int, _frame: object) -> None:
        log.info("%s: stopping", signal.Signals(number).name)
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # SIGHUP: the terminal was closed
    before = {number: signal.signal(number, on_signal) for number in stopping}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
