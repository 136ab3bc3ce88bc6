"""`heliograph translate`: prints the offsets at which consumers of the source resume on the target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from heliograph.cli.choices import Output
from heliograph.cli.cluster_options import cluster_at, log_warnings_to_stderr, warn
from heliograph.cli.output.documents import document
from heliograph.cli.output.escaping import visible
from heliograph.config.formats.load import load
from heliograph.config.mirror_client_config import MirrorClientConfig
from heliograph.counted import counted
from heliograph.errors import ConfigError
from heliograph.mirror_client import MirrorClient
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import ClientKind
from heliograph.policy.java_regex import JavaPattern


class Target(NamedTuple):
    """How the user named the target: by a configuration, or by a bootstrap server."""

    config: Path | None
    bootstrap_server: str | None
    command_config: Path | None


def translate(
    target: Target, source: str, output: Output, *, group: str | None, groups: str | None
) -> int:
    """0 if there are checkpoints, 1 if there are none. Standard output contains nothing else."""
    log_warnings_to_stderr()
    if group is not None and groups is not None:
        raise ConfigError("--group, --groups: expected one of the two, found both")
    wanted = group if groups is None else JavaPattern(groups)
    with MirrorClient(_cluster(target, source)) as client:
        checkpoints = client.checkpoints(source, wanted)
        if client.malformed:
            warn(f"{counted(client.malformed, 'record')} of {source} could not be decoded: skipped")
    as_text = output is Output.TEXT
    typer.echo(_table(checkpoints) if as_text else document(checkpoints, output))
    if checkpoints:
        return 0
    who = f"group {group!r}" if group is not None else f"groups {groups or '.*'!r}"
    typer.echo(f"no checkpoint of {who} from {source!r} yet: no offsets to show", err=True)
    return 1


def _cluster(target: Target, source: str) -> MirrorClientConfig:
    if (target.config is None) == (target.bootstrap_server is None):
        raise ConfigError("translate: expected either a configuration or --bootstrap-server")
    if target.bootstrap_server is not None:
        return cluster_at(target.bootstrap_server, target.command_config)
    assert target.config is not None
    mirror = load(target.config)
    known = mirror.flows or mirror.group_flows
    flows = [flow for flow in known if flow.source == source]
    if len(flows) != 1:
        names = ", ".join(flow.name for flow in flows or known)
        raise ConfigError(
            f"--source: expected one flow from {source!r} in {target.config}, found {names}"
            + ("; name the target with --bootstrap-server" if flows else "")
        )
    cluster = mirror.cluster(flows[0].target, flows[0].name)
    consumer = cluster.for_client(ClientKind.CONSUMER)
    return MirrorClientConfig(admin=cluster, consumer=consumer, policy=flows[0].policy)


_COLUMNS = ("GROUP", "TOPIC", "PARTITION", "UPSTREAM", "DOWNSTREAM", "METADATA")


def _table(checkpoints: Sequence[Checkpoint]) -> str:
    """Columns separated by spaces, as kafka-consumer-groups prints them."""
    rows = [
        _COLUMNS,
        *(tuple(visible(str(field)) or "-" for field in each) for each in checkpoints),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return "\n".join(
        "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
