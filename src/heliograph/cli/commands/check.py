"""`heliograph check`: connects to every cluster as each client of the mirror would, and reads its rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from heliograph.cli.choices import Output
from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.output.check_text import check_lines
from heliograph.cli.output.documents import document
from heliograph.cli.output.escaping import visible
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.format import Form, form_of
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.formats.properties import read_properties
from heliograph.inspection.check.check import check_mirror
from heliograph.inspection.check.login_check import STEP_SECONDS
from heliograph.inspection.check.parties import Party, parties_of, party_of_worker

_MM2_KEY, _WORKER_KEY = "clusters", "config.storage.topic"


def check(path: Path, options: LoadOptions, output: Output, *, write: bool) -> int:
    """0 if nothing failed, 1 if something did."""
    log_warnings_to_stderr()
    parties, warnings = _parties(path, options)
    with _progress() as on_step:
        found = check_mirror(parties, write=write, warnings=warnings, on_step=on_step)
    if output is not Output.TEXT:
        typer.echo(document(found, output))
    else:
        for line in check_lines(found):
            typer.echo(line)
    return 1 if found.failures else 0


def _parties(path: Path, options: LoadOptions) -> tuple[list[Party], tuple[str, ...]]:
    if form_of(path) is Form.PROPERTIES and path.is_file() and _is_worker(path):
        worker = load_worker(path)
        return [party_of_worker(worker)], worker.warnings
    config = load(path, options)
    return parties_of(config), config.warnings


def _is_worker(path: Path) -> bool:
    properties = read_properties(path).properties
    return _WORKER_KEY in properties and _MM2_KEY not in properties


@contextmanager
def _progress() -> Iterator[Callable[[str, str], None]]:
    """Shows the current step of each cluster on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    console.print(
        f"checking; a step waits at most {STEP_SECONDS:g} s, a host name as long as this machine's resolver",
        highlight=False,
        soft_wrap=True,
    )
    if not console.is_terminal:
        yield lambda cluster, step: None
        return
    steps: dict[str, str] = {}
    with console.status("connecting") as status:

        def on_step(cluster: str, step: str) -> None:
            steps[cluster] = step
            shown = ", ".join(f"{alias}: {its}" for alias, its in list(steps.items()))
            status.update(visible(shown).replace("[", r"\["))

        yield on_step
