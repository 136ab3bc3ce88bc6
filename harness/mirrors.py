"""The configuration that Heliograph and MirrorMaker 2 get under test, and the command that starts each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from heliograph.embedded.properties import render_properties

_REPLICATION_FACTORS = (
    "replication.factor",
    "checkpoints.topic.replication.factor",
    "heartbeats.topic.replication.factor",
    "offset-syncs.topic.replication.factor",
    "offset.storage.replication.factor",
    "status.storage.replication.factor",
    "config.storage.replication.factor",
)


def mirror_properties(
    source: tuple[str, str], target: tuple[str, str], topics: str, *, replicas: int
) -> dict[str, str]:
    """One flow with MM2's defaults and four tasks. `source` and `target`: alias and bootstrap servers."""
    aliases = (source[0], target[0])
    flow = "->".join(aliases)
    return {
        "clusters": ",".join(aliases),
        **{f"{alias}.bootstrap.servers": servers for alias, servers in (source, target)},
        f"{flow}.enabled": "true",
        f"{flow}.topics": topics,
        **{name: str(replicas) for name in _REPLICATION_FACTORS},
        "tasks.max": "4",
        "sync.topic.acls.enabled": "false",  # these brokers have no authorizer
    }


def write_mirror_file(folder: Path, properties: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "mm2.properties"
    file.write_text(render_properties(properties))
    return file


def heliograph_command(*arguments: str, python: str = sys.executable) -> list[str]:
    """`python` is the interpreter of another checkout's environment, if it is not this one."""
    return [python, "-m", "heliograph", *arguments]
