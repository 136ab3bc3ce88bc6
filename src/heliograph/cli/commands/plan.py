"""`heliograph plan`: shows what a mirror would do if it were started now. Changes nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer
from rich.console import Console

from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.output.plan_text import plan_blocks
from heliograph.cli.output.tables import as_json as to_json
from heliograph.cli.output.tables import show
from heliograph.config.formats.load import LoadOptions, load
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.dry_run import plan_mirror


def plan(path: Path, options: LoadOptions, *, as_json: bool, everything: bool) -> int:
    """0 if the plan is complete, 1 if a part is missing because a cluster did not respond."""
    log_warnings_to_stderr()
    config = load(path, options)
    with closing(Clusters(config, client_id="heliograph-plan")) as opened:
        made = plan_mirror(config, opened)
    if as_json:
        typer.echo(to_json(made))
    else:
        show(plan_blocks(made, everything=everything), Console())
    return 0 if made.complete else 1
