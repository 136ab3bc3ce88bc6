"""The forms that a mirror's configuration may have, told by the file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class Form(StrEnum):
    PROPERTIES = "properties"  # mm2.properties
    CONNECT = "connect"  # connectors in JSON
    STRIMZI = "strimzi"  # a KafkaMirrorMaker2 in YAML


def form_of(path: Path) -> Form:
    """By the name; a folder by what is in it."""
    if path.is_dir() and not (path / path.name).is_file():
        suffixes = {each.suffix for each in path.iterdir()}
        return Form.CONNECT if ".json" in suffixes else Form.PROPERTIES
    match path.suffix.lower():
        case ".json":
            return Form.CONNECT
        case ".yaml" | ".yml":
            return Form.STRIMZI
    return Form.PROPERTIES
