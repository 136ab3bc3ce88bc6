"""Finds replication factors that a small cluster cannot have, and words them as lines to paste."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from heliograph.counted import counted

_WORKERS = ("offset.storage.", "config.storage.", "status.storage.")
#: The part of a Strimzi mirror that has a setting, by its beginning; sourceConnector has the others.
_SECTIONS = {"checkpoints.topic.": "checkpointConnector", "heartbeats.topic.": "heartbeatConnector"}


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class TooHighFactor:
    """`option` asks for `factor` replicas on a cluster of fewer `brokers`."""

    cluster: str
    option: str
    factor: int
    brokers: int


def too_high(cluster: str, option: str, factor: int, brokers: int) -> tuple[TooHighFactor, ...]:
    """Empty if the controller would create a topic; -1 leaves the factor to the brokers."""
    if factor <= brokers:
        return ()
    return (TooHighFactor(cluster=cluster, option=option, factor=factor, brokers=brokers),)


def factor_problems(found: Iterable[TooHighFactor]) -> dict[str, str]:
    """One sentence for each cluster."""
    clusters: dict[tuple[str, int], list[TooHighFactor]] = {}
    for each in sorted(set(found)):
        clusters.setdefault((each.cluster, each.brokers), []).append(each)
    return {
        f"replication factors on {alias}": f"{alias} has {counted(brokers, 'broker')}, so "
        f"no topic can be created with {', '.join(f'{e.option} = {e.factor}' for e in its)}; set "
        f"{'each' if len(its) > 1 else 'it'} to {brokers}{' or less' if brokers > 1 else ''}, "
        "or to -1 for the brokers' default"
        for (alias, brokers), its in clusters.items()
    }


def properties_block(found: Iterable[TooHighFactor]) -> list[str]:
    return [f"{option} = {most}" for option, most in _values(found)]


def connect_block(found: Iterable[TooHighFactor]) -> list[str]:
    """Lines of each connector's config, and of the worker's file."""
    values = _values(found)
    own = [f'"{option}": "{most}",' for option, most in values if not option.startswith(_WORKERS)]
    worker = [f"{option}={most}" for option, most in values if option.startswith(_WORKERS)]
    return [
        *(["in config of the connectors:", *own] if own else []),
        *(["in worker.properties:", *worker] if worker else []),
    ]


def strimzi_block(found: Iterable[TooHighFactor]) -> list[str]:
    """Lines of the config of the target, and of each connector of a mirror."""
    sections: dict[str, list[str]] = {}
    for option, most in _values(found):
        sections.setdefault(_section(option), []).append(f"  {option}: {most}")
    return [line for section, lines in sections.items() for line in (section, *lines)]


def _section(option: str) -> str:
    if option.startswith(_WORKERS):
        return "spec.target.config:"
    connector = next((c for start, c in _SECTIONS.items() if option.startswith(start)), None)
    return f"spec.mirrors[].{connector or 'sourceConnector'}.config:"


def _values(found: Iterable[TooHighFactor]) -> Sequence[tuple[str, int]]:
    """Each option once, with what the smallest of its clusters can have; replication.factor first."""
    most: dict[str, int] = {}
    for each in found:
        most[each.option] = min(each.brokers, most.get(each.option, each.brokers))
    return sorted(most.items(), key=lambda item: (item[0] != "replication.factor", item[0]))
