"""Reads a configuration in one format and writes it in another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heliograph.config.formats.connect_json import read_connectors
from heliograph.config.formats.convert.from_connectors import outline_connectors
from heliograph.config.formats.convert.from_properties import outline_properties
from heliograph.config.formats.convert.outline import Converted, Outline
from heliograph.config.formats.convert.to_connect import to_connect
from heliograph.config.formats.convert.to_properties import to_properties
from heliograph.config.formats.convert.to_strimzi import to_strimzi
from heliograph.config.formats.format import Form, form_of
from heliograph.config.formats.properties import read_properties
from heliograph.config.formats.strimzi import parse_strimzi
from heliograph.config.formats.strimzi_clusters import PROVIDER
from heliograph.config.formats.text.files import read_text

_WRITERS = {
    Form.PROPERTIES: to_properties,
    Form.CONNECT: to_connect,
    Form.STRIMZI: to_strimzi,
}


def convert(path: Path, to: Form, worker: Path | None = None) -> Converted:
    """`worker` is the worker.properties of connectors in JSON. Raises ConfigError."""
    outline = read_outline(path, worker)
    return replace(_WRITERS[to](outline), warnings=outline.warnings)


def read_outline(path: Path, worker: Path | None = None) -> Outline:
    match form_of(path):
        case Form.PROPERTIES:
            return outline_properties(read_properties(path))
        case Form.CONNECT:
            file = None if worker is None else read_properties(worker)
            return outline_connectors(read_connectors(path), file)
        case Form.STRIMZI:
            return _of_strimzi(path)


def _of_strimzi(path: Path) -> Outline:
    found = parse_strimzi(read_text(path), path.name)
    return outline_connectors(
        found.connectors, found.worker, name=found.name, warnings=found.warnings
    )


def uses_secrets(converted: Converted) -> bool:
    """Whether it contains placeholders that only Strimzi or --secrets can fill in."""
    return any(f"${{{PROVIDER}:" in text for text in converted.files.values())
