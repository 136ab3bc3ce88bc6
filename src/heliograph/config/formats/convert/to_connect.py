"""Writes an outline as files for Connect: worker.properties, and a JSON file for each connector."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import javaproperties

from heliograph.config.formats.connect_json import RUNNING
from heliograph.config.formats.convert.outline import Converted, Outline, OutlinedConnector

#: All connectors in one document, to be printed.
CONNECTORS = "connectors.json"
WORKER = "worker.properties"


def to_connect(outline: Outline) -> Converted:
    """With several workers, each has a folder named after its target."""
    connectors = [each for worker in outline.workers for each in worker.connectors]
    files = {CONNECTORS: _document([_posted(each) for each in connectors])}
    for worker in outline.workers:
        folder = f"{_file_name(worker.target)}/" if len(outline.workers) > 1 else ""
        files[f"{folder}{WORKER}"] = properties_text(worker.settings)
        for each in worker.connectors:
            files[_unused(f"{folder}{_file_name(each.name)}", files)] = _document(_posted(each))
    return Converted(files=files, notes=outline.notes)


def _posted(connector: OutlinedConnector) -> dict[str, object]:
    """As POST /connectors expects it."""
    config = {
        "connector.class": connector.kind.java_name,
        "source.cluster.alias": connector.source,
        "target.cluster.alias": connector.target,
        **connector.config,
    }
    state = {} if connector.state == RUNNING else {"initial_state": connector.state}
    return {"name": connector.name, "config": config, **state}


def _document(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def properties_text(settings: Mapping[str, str]) -> str:
    lines = [f"{javaproperties.escape(name)} = {_escaped(text)}" for name, text in settings.items()]
    return "\n".join([*lines, ""])


def _escaped(value: str) -> str:
    """Escapes only what must be escaped in values: not : = # ! and not spaces within the text."""
    rest = value.lstrip(" ")
    text = re.sub(
        r"\\(.)",
        lambda pair: pair[1] if pair[1] in ":=#! " else pair[0],
        javaproperties.escape(rest),
    )
    return r"\ " * (len(value) - len(rest)) + text


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name)


def _unused(stem: str, files: Mapping[str, str]) -> str:
    """A file name that is not used yet, since different names may give the same file name."""
    found, number = f"{stem}.json", 2
    while found in files:
        found, number = f"{stem}-{number}.json", number + 1
    return found
