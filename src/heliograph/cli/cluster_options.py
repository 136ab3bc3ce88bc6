"""Reads --bootstrap-server and --command-config, which name a cluster as in Kafka's tools."""

from __future__ import annotations

import logging
from pathlib import Path

import typer

from heliograph.cli.output.escaping import VisibleFormatter, visible
from heliograph.config.formats.properties import read_properties
from heliograph.config.mirror_client_config import MirrorClientConfig, mirror_client_config


def cluster_at(bootstrap_server: str, command_config: Path | None) -> MirrorClientConfig:
    """The command line takes precedence over the file."""
    properties: dict[str, str] = {}
    if command_config is not None:
        file = read_properties(command_config)
        properties = {key: found.value for key, found in file.properties.items()}
        warn(*file.warnings)
    properties["bootstrap.servers"] = bootstrap_server
    config = mirror_client_config(properties, subject=bootstrap_server)
    warn(*config.warnings)
    return config


def warn(*messages: str) -> None:
    for message in messages:
        typer.echo(visible(f"warning: {message}"), err=True)


def log_warnings_to_stderr() -> None:
    logging.basicConfig(level=logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(VisibleFormatter("%(levelname)s %(message)s"))
