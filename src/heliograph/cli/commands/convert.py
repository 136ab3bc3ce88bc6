"""`heliograph convert`: writes a configuration in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from heliograph.config.formats.convert.conversion import convert as make
from heliograph.config.formats.convert.conversion import uses_secrets
from heliograph.config.formats.convert.to_connect import CONNECTORS
from heliograph.config.formats.format import Form
from heliograph.config.formats.load import LoadOptions, load
from heliograph.errors import ConfigError


def convert(path: Path, to: Form, *, worker: Path | None, folder: Path | None) -> int:
    """0 if the other format expresses everything; 1 if something is lost or `run` would refuse the
    configuration; stderr lists what."""
    made = make(path, to, worker)
    refused = _refused(path, worker)
    for problem in refused:
        typer.echo(f"refused by run: {problem}", err=True)
    for warning in made.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for note in made.notes:
        typer.echo(f"not expressed: {note}", err=True)
    if to is not Form.STRIMZI and uses_secrets(made):
        typer.echo(
            "Secrets stay placeholders; `heliograph run --secrets PATH` fills them in", err=True
        )
    if folder is not None:
        _write(folder, {n: t for n, t in made.files.items() if n != CONNECTORS})
    else:
        typer.echo(next(iter(made.files.values())), nl=False)
        if to is Form.CONNECT:
            typer.echo("to write the worker's settings as well, use --output FOLDER", err=True)
    return 1 if made.notes or refused else 0


def _refused(path: Path, worker: Path | None) -> list[str]:
    """What `run` would refuse, but for placeholders, which a conversion leaves as they are."""
    try:
        load(path, LoadOptions(worker=worker))
    except ConfigError as e:
        return [problem for problem in e.problems if "${" not in problem]
    return []


def _write(folder: Path, files: dict[str, str]) -> None:
    """Never overwrites a file. Only this user can read the files, since they may contain secrets."""
    existing = [name for name in files if (folder / name).exists()]
    if existing:
        raise ConfigError(
            [f"{folder / name}: exists already; choose another folder" for name in existing]
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
        typer.echo(str(path))
