"""Finds cycles with mirrors of other processes, by the records that these leave on our source.

Another Heliograph that mirrors into our source writes its source cluster's id there. If that is our target,
and that mirror keeps names, our records come back. A Java MirrorMaker 2 stores its offsets there, in
`mm2-offsets.<alias>.internal`: it keeps names if a topic that it mirrors has no `<alias>.<topic>` there. Its
records have aliases only, so it counts as a mirror from our target if it uses the same alias as we do.

These records outlive their mirrors, and mirrors that keep names are often reversed. So only recent records
count: a running cycle writes new ones all the time.

Of two mirrors that would form a cycle, the first continues: a mistake in the second must not stop the first.
The second waits, also after a restart of the first.

Not found: cycles through a third cluster with mirrors of other processes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from heliograph.plan.cycles import FilteredFlow

#: Older records are those of a stopped mirror. Offsets are written every minute.
FRESH_MS = 5 * 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFlow:
    """A flow of another process, as in `mm2-heliograph.<alias>.internal` on our source.

    `topics` are its source topics without those that it refuses itself; `at_ms` is the time of its last
    status, `since_ms` that of its start.
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
    """A Java MirrorMaker 2, as in `mm2-offsets.<alias>.internal` on our source.

    `topics`: the source topics that it stores offsets for, and the time of the last one in ms.
    """

    source_alias: str
    topics: Mapping[str, int]


def find_external_loops(
    own: FilteredFlow,
    source_id: str | None,
    target_id: str | None,
    foreign: Iterable[ForeignFlow],
    *,
    now_ms: int,
    since_ms: int,
    waiting: Collection[str] = (),
) -> dict[str, str]:
    """Source topics that a flow of another process mirrors back, and a sentence for each.

    `since_ms` is the start of our flow; `waiting` are topics that it has not mirrored so far for this reason.
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
    """Source topics that a Java MirrorMaker 2 mirrors back. `source_topics` are those on our source."""
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
    """The upstream names of remote topics of `alias`, for any separator of up to three characters."""
    longest = range(len(alias) + 1, len(alias) + 4)
    return {topic[end:] for topic in topics if topic.startswith(alias) for end in longest}


def _brought_back(own: FilteredFlow, names: Collection[str], by: str) -> dict[str, str]:
    """What we mirror as one of `names` comes back under that name; a cycle if we mirror that, too."""
    return {
        topic: f"{topic}: not mirrored: {by} mirrors it from {own.flow.target} to {own.flow.source} "
        "under the same name, so records would go round in a cycle; exclude it from one of the two, "
        "stop the other, or name remote topics with DefaultReplicationPolicy"
        for topic in sorted(names)
        if own.carries(topic) and own.flow.target_topic(topic) in names
    }
