"""`heliograph status`: shows lag and state of a mirror, as observed on its clusters. Changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from rich.live import Live

from heliograph.cli.choices import Output
from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.output.documents import document
from heliograph.cli.output.status_text import status_blocks
from heliograph.cli.output.tables import drawn, show
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.format import Form, form_of
from heliograph.config.formats.kubernetes import read_kubernetes
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.formats.properties import read_properties
from heliograph.config.formats.wrong_command import is_workers
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ConfigError
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.mirror_status import MirrorStatus
from heliograph.inspection.status import observe_mirror
from heliograph.inspection.worker_connectors import read_worker_connectors

DEFAULT_CONFIG = Path("mm2.properties")
#: A service writes its state every 5 s.
_WATCH_SECONDS = 5.0
_CLIENT_ID = "heliograph-status"


def status(
    path: Path | None,
    options: LoadOptions,
    output: Output,
    *,
    watch: bool,
    partitions: bool,
    wide: bool = False,
) -> int:
    """0 if every flow is known to run and no partition has failed, 1 if not."""
    log_warnings_to_stderr()
    config, idle = load_observed(the_config_file(path, "status"), options, _CLIENT_ID)
    printer = _Printer(output, everything=partitions, wide=wide, idle=idle)
    with closing(Clusters(config, client_id=_CLIENT_ID)) as clusters:
        if watch:
            return _watch(config, clusters, printer)
        found = observe_mirror(config, clusters)
        printer.show(found)
        return 0 if found.well else 1


def the_config_file(path: Path | None, command: str) -> Path:
    if path is None and not DEFAULT_CONFIG.exists():
        raise ConfigError(
            f"{command}: expected a configuration, found no argument and no {DEFAULT_CONFIG} in this folder"
        )
    return path or DEFAULT_CONFIG


def load_observed(
    path: Path, options: LoadOptions, client_id: str
) -> tuple[MirrorConfig, Mapping[str, str]]:
    """Of a worker's file: the connectors in its config topic, and why others do not run."""
    if form_of(path) is not Form.PROPERTIES or not is_workers(read_properties(path)):
        return load(path, options), {}
    worker = load_worker(path, secrets=read_kubernetes(options.secrets))
    found = read_worker_connectors(worker, client_id)
    return found.mirror, found.idle


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
    """Prints text or documents: one, or with --watch a line of JSON or a document of YAML each time."""

    def __init__(
        self, output: Output, *, everything: bool, wide: bool, idle: Mapping[str, str]
    ) -> None:
        self._idle = idle
        self._output = output
        self._wide = wide
        self._everything = everything
        self._console = Console()
        self._live: Live | None = None
        self._many = False

    def watching(self) -> Live | nullcontext[None]:
        self._many = True
        if self._output is not Output.TEXT or not self._console.is_terminal:
            return nullcontext()
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="visible")
        return self._live

    def show(self, found: MirrorStatus) -> None:
        found = replace(found, idle=self._idle)
        blocks = status_blocks(found, everything=self._everything)
        if self._output is not Output.TEXT:
            typer.echo(document(found, self._output, one_of_many=self._many))
        elif self._live is not None:
            width = None if self._wide else self._console.width
            self._live.update(drawn(blocks, width), refresh=True)
        else:
            show(blocks, self._console, wide=self._wide)
