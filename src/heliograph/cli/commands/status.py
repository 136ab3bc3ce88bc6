"""`heliograph status`: shows lag and state of a mirror, as observed on its clusters. Changes nothing."""

from __future__ import annotations

import threading
from contextlib import closing, nullcontext
from pathlib import Path

import typer
from rich.console import Console
from rich.live import Live

from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.output.status_text import status_blocks
from heliograph.cli.output.tables import as_json as to_json
from heliograph.cli.output.tables import drawn, show
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ConfigError
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.mirror_status import MirrorStatus
from heliograph.inspection.status import observe_mirror

DEFAULT_CONFIG = Path("mm2.properties")
#: A service writes its state every 5 s.
_WATCH_SECONDS = 5.0


def status(
    path: Path | None, options: LoadOptions, *, as_json: bool, watch: bool, partitions: bool
) -> int:
    """0 if every flow is known to run and no partition has failed, 1 if not."""
    log_warnings_to_stderr()
    config = load(_config_file(path), options)
    printer = _Printer(as_json=as_json, everything=partitions)
    with closing(Clusters(config, client_id="heliograph-status")) as clusters:
        if watch:
            return _watch(config, clusters, printer)
        found = observe_mirror(config, clusters)
        printer.show(found)
        return 0 if found.well else 1


def _config_file(path: Path | None) -> Path:
    if path is None and not DEFAULT_CONFIG.exists():
        raise ConfigError(
            f"status: expected a configuration, found no argument and no {DEFAULT_CONFIG} in this folder"
        )
    return path or DEFAULT_CONFIG


def _watch(config: MirrorConfig, clusters: Clusters, printer: _Printer) -> int:
    """Runs until Ctrl-C; the exit code is that of the last status."""
    stop, well = threading.Event(), True
    try:
        with printer.watching():
            while True:
                clusters.forget_errors()
                found = observe_mirror(config, clusters)
                well = found.well
                printer.show(found)
                stop.wait(_WATCH_SECONDS)
    except KeyboardInterrupt:
        return 0 if well else 1


class _Printer:
    """Prints text or JSON: one document, or with --watch one line for each status."""

    def __init__(self, *, as_json: bool, everything: bool) -> None:
        self._as_json = as_json
        self._everything = everything
        self._console = Console()
        self._live: Live | None = None
        self._indent: int | None = 2

    def watching(self) -> Live | nullcontext[None]:
        self._indent = None
        if self._as_json or not self._console.is_terminal:
            return nullcontext()
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="visible")
        return self._live

    def show(self, found: MirrorStatus) -> None:
        blocks = status_blocks(found, everything=self._everything)
        if self._as_json:
            typer.echo(to_json(found, indent=self._indent))
        elif self._live is not None:
            self._live.update(drawn(blocks), refresh=True)
        else:
            show(blocks, self._console)
