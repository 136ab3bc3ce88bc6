"""Explains common mistakes: names that MM2 does not have, and places where a name has another effect.

Each text completes "<key>: …"; {prefix} is what precedes the name in the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from heliograph.config.options import Scope
from heliograph.config.resolve.near_match import near

WRONG_NAMES = {
    "enable": "not a setting, although Kafka's documentation shows it; write {prefix}enabled",
    "topics.whitelist": "not a setting of MM2; write {prefix}topics",
    "groups.whitelist": "not a setting of MM2; write {prefix}groups",
    "whitelist": "an option of MirrorMaker 1; write {prefix}topics",
    "blacklist": "an option of MirrorMaker 1; write {prefix}topics.exclude",
    "topics.include": "not a setting of MM2; write {prefix}topics",
    "topics.pattern": "not a setting of MM2; write {prefix}topics",
    "topics.regex": "a setting of sink connectors; write {prefix}topics",
    "topicsPattern": "a field of Strimzi; write {prefix}topics",
    "topicsExcludePattern": "a field of Strimzi; write {prefix}topics.exclude",
    "groupsPattern": "a field of Strimzi; write {prefix}groups",
    "groupsExcludePattern": "a field of Strimzi; write {prefix}groups.exclude",
    "use.incremental.alter.configs": "removed in Kafka 4.0; configurations are always altered "
    "incrementally; leave it out",
    "add.source.alias.to.metrics": "removed in Kafka 4.0; metrics always have the alias; leave it "
    "out",
    "auto.include.jmx.reporter": "removed in Kafka 4.0; leave it out",
    "config.storage.partitions": "has no effect, as in MM2; the topic of connector configurations "
    "always has 1 partition",
}

#: Settings that choose topics. A key that was meant as one of them is refused: if it were ignored, topics
#: would be mirrored that the user did not choose.
_CHOOSING = ("topics", "topics.exclude")


def chooses_topics(name: str, known: Iterable[str]) -> bool:
    """Whether a name without effect was meant to choose topics: misspelt, misplaced, or of another tool."""
    remedy = WRONG_NAMES.get(name, "")
    return (
        name in _CHOOSING
        or remedy.endswith(tuple(f"{{prefix}}{each}" for each in _CHOOSING))
        or (not remedy and near(name, known) in _CHOOSING)
    )


# [source.|target.] consumer.|producer.|admin. [override.], as in source.consumer.fetch.max.bytes
FLOW_CLIENT = re.compile(
    r"(?:(?P<side>source|target)\.)?(?P<kind>consumer|producer|admin)\."
    r"(?P<override>override\.)?(?P<name>.+)"
)


def misleading_client(
    client: re.Match[str], *, producer: str, consumer: str, own: str
) -> str | None:
    """Why a client setting of a flow or connector has no effect on mirrored records; None: it has.

    The producer of the Connect worker writes records: `B.producer.x` or `A->B.producer.override.x`.
    Consumers and admin clients are MM2's own; Connect's overrides do not reach them. `producer` and
    `consumer` are the right prefixes for these clients, `own` the one before other kinds.
    """
    kind, name = client["kind"], client["name"]
    if client["override"]:
        if kind == Scope.PRODUCER and client["side"] is None:
            return None
        prefix = producer if kind == Scope.PRODUCER else f"{own}{kind}."
        return f"has no effect, as in MM2; write {prefix}{name}"
    if kind == Scope.PRODUCER:
        return (
            "has an effect on offset syncs only, not on mirrored records, as in MM2; write "
            f"{producer}{name}"
        )
    if kind == Scope.CONSUMER and client["side"] == "target":
        return (
            "has an effect on internal topics only, not on mirrored records, as in MM2; write "
            f"{consumer}{name}"
        )
    return None
