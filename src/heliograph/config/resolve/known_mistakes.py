"""Names that MM2 never had or has no more, and places where a name does not mean what one expects.

Each text completes "<key>: …"; {prefix} is what precedes the name in the key.
"""

from __future__ import annotations

import re

from heliograph.config.options import Scope

WRONG_NAMES = {
    "enable": "no such setting, though Kafka's documentation has it; write {prefix}enabled",
    "topics.whitelist": "never was a setting of MM2; write {prefix}topics",
    "groups.whitelist": "never was a setting of MM2; write {prefix}groups",
    "whitelist": "an option of MirrorMaker 1; write {prefix}topics",
    "blacklist": "an option of MirrorMaker 1; write {prefix}topics.exclude",
    "topics.regex": "a setting of sink connectors; write {prefix}topics",
    "topicsPattern": "a field of Strimzi; write {prefix}topics",
    "topicsExcludePattern": "a field of Strimzi; write {prefix}topics.exclude",
    "groupsPattern": "a field of Strimzi; write {prefix}groups",
    "groupsExcludePattern": "a field of Strimzi; write {prefix}groups.exclude",
    "use.incremental.alter.configs": "dropped by Kafka 4.0; configurations are always altered "
    "incrementally, leave it out",
    "add.source.alias.to.metrics": "dropped by Kafka 4.0; metrics always have the alias, leave it "
    "out",
    "auto.include.jmx.reporter": "dropped by Kafka 4.0; leave it out",
    "config.storage.partitions": "has no effect, as in MM2; the topic of connector configurations "
    "always has 1 partition",
}

# [source.|target.] consumer.|producer.|admin. [override.], as in source.consumer.fetch.max.bytes
FLOW_CLIENT = re.compile(
    r"(?:(?P<side>source|target)\.)?(?P<kind>consumer|producer|admin)\."
    r"(?P<override>override\.)?(?P<name>.+)"
)


def misleading_client(client: re.Match[str], *, flow: str, source: str, target: str) -> str | None:
    """Why a client setting of a flow does not do what it looks like; None if it does.

    Records are written by the producer of the Connect worker, `B.producer.x` or
    `A->B.producer.override.x`; consumers and admins of a flow are MM2's own, out of reach of
    Connect's overrides.
    """
    kind, name = client["kind"], client["name"]
    if client["override"]:
        if kind == Scope.PRODUCER and client["side"] is None:
            return None
        right = f"{target}.producer.{name}" if kind == Scope.PRODUCER else f"{flow}.{kind}.{name}"
        return f"has no effect, as in MM2; write {right}"
    if kind == Scope.PRODUCER:
        return (
            "does not reach the producer of mirrored records, but only that of offset syncs, as in "
            f"MM2; write {target}.producer.{name}"
        )
    if kind == Scope.CONSUMER and client["side"] == "target":
        return (
            "does not reach the consumer of mirrored records, but only those of internal topics, as "
            f"in MM2; write {source}.consumer.{name}"
        )
    return None
