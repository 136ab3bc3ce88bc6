"""`heliograph plan`: shows what a mirror would do if it were started now. Changes nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer
from rich.console import Console

from heliograph.cli.choices import Output
from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.output.documents import document
from heliograph.cli.output.plan_text import plan_blocks
from heliograph.cli.output.tables import show
from heliograph.config.formats.format import form_of
from heliograph.config.formats.load import LoadOptions, load
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.dry_run import plan_mirror


def plan(path: Path, options: LoadOptions, output: Output, *, everything: bool, wide: bool) -> int:
    """0 if the plan is complete, 1 if a part is missing because a cluster did not respond."""
    log_warnings_to_stderr()
    config = load(path, options)
    with closing(Clusters(config, client_id="heliograph-plan")) as opened:
        made = plan_mirror(config, opened)
    if output is not Output.TEXT:
        typer.echo(document(made, output))
    else:
        show(plan_blocks(made, everything=everything, form=form_of(path)), Console(), wide=wide)
    return 0 if made.complete else 1
