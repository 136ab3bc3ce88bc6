"""Finds patterns of `topics` and `groups` that match nothing: misspelt ones would mirror nothing, in silence.

The items of a list are checked one by one. A list is checked as a whole if its items do not stand alone:
MM2 joins them with |, so that `(a,b)` is one pattern, and a flag such as (?i) applies to later items, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches

from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import InvalidPattern
from heliograph.policy.group_filter import DefaultGroupFilter
from heliograph.policy.java_regex import JavaPattern
from heliograph.policy.topic_filter import DefaultTopicFilter, TopicFilter

#: Patterns that match anything say nothing about what is expected to be there.
_ANYTHING = frozenset({".*", ".+"})
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")
_NEAR = 3


def unmatched_topics(
    flow: FlowConfig, topic_filter: TopicFilter, topics: Collection[str]
) -> dict[str, str]:
    """By item of `topics`: that it matches no topic of the source, or only some that are not mirrored."""
    if not isinstance(topic_filter, DefaultTopicFilter):
        return {}  # a class of the user's reads the list in its own way
    return _unmatched(
        *("topics", "topic", flow.source, flow.topics, topics),
        lambda topic: flow.why_not_replicated(topic, topic_filter),
    )


def unmatched_groups(flow: FlowConfig, groups: Collection[str]) -> dict[str, str]:
    """By item of `groups`: that it matches none of the source's groups."""
    if flow.checkpoints is None or not isinstance(flow.group_filter(), DefaultGroupFilter):
        return {}
    return _unmatched(
        *("groups", "group", flow.source, flow.checkpoints.groups, groups), lambda _: None
    )


def _unmatched(
    setting: str,
    noun: str,
    cluster: str,
    patterns: Sequence[str],
    names: Collection[str],
    why_not: Callable[[str], str | None],
) -> dict[str, str]:
    found: dict[str, str] = {}
    for text, pattern in _single(patterns):
        matched = sorted(name for name in names if pattern.matches(name))
        if not matched:
            near = get_close_matches(text, names, n=_NEAR, cutoff=0.75)
            like = f"; near: {', '.join(near)}" if near else ""
            found[f"{setting}={text}"] = (
                f"{setting}={text} matches no {noun} of cluster {cluster}{like}"
            )
        elif all(why_not(name) for name in matched):
            more = f" and {len(matched) - 1:,} more" if len(matched) > 1 else ""
            found[f"{setting}={text}"] = (
                f"{setting}={text} matches only {noun}s of cluster {cluster} that are not mirrored: "
                f"{matched[0]}{more} ({why_not(matched[0])})"
            )
    return found


def _single(patterns: Sequence[str]) -> list[tuple[str, JavaPattern]]:
    """The items that expect something, each with its pattern; or the whole list as one."""
    if not patterns or any(pattern in _ANYTHING for pattern in patterns):
        return []
    whole = ",".join(patterns)
    try:
        if not _FLAGS.search(whole):
            return [(each, JavaPattern(each)) for each in dict.fromkeys(patterns) if each]
    except InvalidPattern:
        pass  # an item that goes on in the next one
    return [(whole, JavaPattern("|".join(patterns)))]
