"""Tells the format of a configuration by its file name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class Form(StrEnum):
    PROPERTIES = "properties"  # mm2.properties
    CONNECT = "connect"  # connectors in JSON
    STRIMZI = "strimzi"  # a KafkaMirrorMaker2 in YAML


def form_of(path: Path) -> Form:
    """By the file's extension; a folder is Connect JSON if it contains .json files."""
    if path.is_dir() and not (path / path.name).is_file():
        suffixes = {each.suffix for each in path.iterdir()}
        return Form.CONNECT if ".json" in suffixes else Form.PROPERTIES
    match path.suffix.lower():
        case ".json":
            return Form.CONNECT
        case ".yaml" | ".yml":
            return Form.STRIMZI
    return Form.PROPERTIES
