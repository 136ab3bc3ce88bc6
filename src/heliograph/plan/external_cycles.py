"""Circles with mirrors that other processes run, found by the traces that these leave on our source.

A Heliograph that mirrors into our source writes there which cluster it mirrors from, by id. If that is our
target and it keeps names, what we mirror comes back. A Java MirrorMaker 2 leaves its offsets there,
`mm2-offsets.<alias>.internal`: it keeps names if a topic that it mirrors has no `<alias>.<topic>` there. It
knows aliases only, so it is believed to mirror from our target if it calls that by the same alias as we do.

Traces outlive their mirrors, and switching the direction of a mirror that keeps names is what such mirrors
are for. So only what is fresh counts: a circle that runs renews its traces all the time.

Of two mirrors that would make a circle, the one that was there first goes on: a mistake in a second one
must not stop the first. The second waits, and goes on waiting when the first is started anew.

Not seen: circles by way of a third cluster whose mirrors other processes run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from heliograph.plan.cycles import FilteredFlow

#: Traces older than this are those of a mirror that has stopped. Offsets are written every minute.
FRESH_MS = 5 * 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFlow:
    """What `mm2-heliograph.<alias>.internal` on our source says about a flow of another process.

    `topics` are its source topics but for those that it leaves alone itself, `at_ms` when it last said so,
    `since_ms` when it began.
    """

    name: str
    source_id: str | None
    target_id: str | None
    keeps_names: bool
    topics: frozenset[str]
    at_ms: int
    since_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaMirror:
    """What `mm2-offsets.<alias>.internal` on our source says about a Java MirrorMaker 2.

    `topics`: the source topics that it stores offsets of, and when it last did, in ms.
    """

    source_alias: str
    topics: Mapping[str, int]


def find_foreign_loops(
    own: FilteredFlow,
    source_id: str | None,
    target_id: str | None,
    foreign: Iterable[ForeignFlow],
    *,
    now_ms: int,
    since_ms: int,
    waiting: Collection[str] = (),
) -> dict[str, str]:
    """Source topics that a flow of another process brings back, and a sentence for each.

    `since_ms` is when our flow began; `waiting` are topics that it has left alone so far for this reason.
    """
    if source_id is None or target_id is None:
        return {}
    refused: dict[str, str] = {}
    for flow in foreign:
        opposite = (flow.source_id, flow.target_id) == (target_id, source_id)
        if opposite and flow.keeps_names and now_ms - flow.at_ms <= FRESH_MS:
            first = (flow.since_ms, flow.source_id) < (since_ms, source_id)
            topics = flow.topics if first else flow.topics.intersection(waiting)
            refused |= _brought_back(own, topics, f"the flow {flow.name} of another Heliograph")
    return refused


def find_java_loops(
    own: FilteredFlow,
    mirrors: Iterable[JavaMirror],
    source_topics: Collection[str],
    now_ms: int,
) -> dict[str, str]:
    """Source topics that a Java MirrorMaker 2 brings back. `source_topics` are those on our source."""
    refused: dict[str, str] = {}
    for mirror in mirrors:
        if mirror.source_alias != own.flow.target:
            continue
        prefixed = _without_prefix(mirror.source_alias, source_topics)
        kept = {
            topic
            for topic, at_ms in mirror.topics.items()
            if now_ms - at_ms <= FRESH_MS and topic in source_topics and topic not in prefixed
        }
        mirrored_by = f"a MirrorMaker 2 that calls its source {mirror.source_alias}"
        refused |= _brought_back(own, kept, mirrored_by)
    return refused


def _without_prefix(alias: str, topics: Iterable[str]) -> set[str]:
    """What remote topics of `alias` are called at home, for any separator of up to three characters."""
    longest = range(len(alias) + 1, len(alias) + 4)
    return {topic[end:] for topic in topics if topic.startswith(alias) for end in longest}


def _brought_back(own: FilteredFlow, names: Collection[str], by: str) -> dict[str, str]:
    """What we mirror as one of `names` comes back under that name; a circle if we mirror that, too."""
    return {
        topic: f"{topic}: not mirrored: {by} mirrors it from {own.flow.target} to {own.flow.source} "
        "under the same name, so records would go round in a circle; exclude it from one of the two, "
        "stop the other, or name remote topics with DefaultReplicationPolicy"
        for topic in sorted(names)
        if own.carries(topic) and own.flow.target_topic(topic) in names
    }
