"""Generates docs/configuration.md from the option table:

python -m heliograph.config.options.reference_page > docs/configuration.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from heliograph.config.options import OPTIONS, SECTIONS, Option, Scope, Support
from heliograph.config.options.kafka_clients import CLIENT_NAMES

_PLACES = {
    Scope.TOP: "`x`",
    Scope.CONNECTOR: "`A->B.x` for one flow, `x` for all",
    Scope.CLIENT: "`A.x` for one cluster, `x` for all",
    Scope.CONSUMER: "`A.consumer.x` for flows from A; `A->B.consumer.x` and "
    "`A->B.source.consumer.x` for one flow",
    Scope.PRODUCER: "`B.producer.x` for all flows to B; `A->B.producer.override.x` for one flow",
    Scope.WORKER: "`B.x` for all flows to B; `offset.storage.*`, `config.storage.*`, "
    "`status.storage.*` and converters also as `x`, which takes precedence",
    Scope.SERVE: "`x` in worker.properties, or `CONNECT_X` in the environment ([forms](forms.md)). The same "
    "places take the settings of workers, of clusters and of the REST server, and `producer.x`, "
    "`consumer.x` and `admin.x`",
}
_STATES = {
    Support.ACTED: "",
    Support.LATER: " *Without effect in this version.*",
    Support.REFUSED: " *Refused in this version.*",
}
_INTRODUCTION = """\
# Configuration

Every setting of `mm2.properties` that Heliograph knows, for clusters A and B and a flow `A->B`.
This page is generated from the option table; do not edit it:
`python -m heliograph.config.options.reference_page > docs/configuration.md`.

When the mirror starts, it logs every setting that is unknown, misspelt or without effect at its
place, with the right name or place. All errors of a file are reported together, each with its line.
A misspelt or misplaced `topics` or `topics.exclude` is an error: ignored, it would mirror every topic.
*heliograph* in the column *since* marks settings that MirrorMaker 2 does not have.
"""
_NOTES = {
    "Config providers": """\
Every value may contain placeholders: `${name:/path:key}` or `${name:key}`, filled in by the provider
that `config.providers` declares under that name, and `${VARIABLE}`, filled in from the environment
(MM2 leaves that to a script that runs before it). `$VARIABLE` without braces stays as it is. A
placeholder that cannot be filled in is an error. No message shows the value of a placeholder.

```properties
config.providers = file
config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider
A.bootstrap.servers = ${file:/etc/mm2/access.properties:BROKERS}
```
""",
    "Producers": """\
How these settings and those of consumers limit memory: [limits](limits.md).
""",
    "Flows": """\
A flow mirrors records if it is enabled. Heartbeats are written for every pair of clusters, even if
its flow is disabled, unless `emit.heartbeats.enabled = false`.
""",
    "Workers": """\
Exactly once needs two settings, and brokers of Kafka 2.5 or newer on the target:

```properties
B.exactly.once.source.support = enabled
A.consumer.isolation.level = read_committed
```

Transactional ids are Connect's: `<group.id>-MirrorSourceConnector-<task>` and, for the service that leads,
`connect-cluster-<group.id>`. With ACLs on the target, the service needs Write and Describe on both. Consumers
of the target see each record once with `isolation.level = read_committed`.
""",
    "Topics, records and offset syncs": """\
An interval of -1 means never. Without offset syncs there are no checkpoints and no group offsets.
The old names `topics.blacklist`, `groups.blacklist` and `config.properties.blacklist` are read,
with a warning, where the new ones are not set. `message.timestamp.before.max.ms` and
`.after.max.ms` are copied by default, as in MM2: its default of `config.properties.exclude` has the
brokers' names of the two.
""",
}


def reference_page() -> str:
    parts = [_INTRODUCTION]
    for title, options in SECTIONS.items():
        parts.append("\n".join(_section(title, options)))
    parts.append("\n".join(_client_names()))
    return "\n".join(parts)


def _section(title: str, options: tuple[Option, ...]) -> Iterator[str]:
    yield f"## {title}"
    yield f"Where: {_PLACES[options[0].scope]}."
    yield ""
    if title in _NOTES:
        yield _NOTES[title]
    yield "| setting | type | default | importance | since | |"
    yield "|---|---|---|---|---|---|"
    for option in options:
        yield _row(option)
    yield ""


def _row(option: Option) -> str:
    default = f"`{option.default}`" if option.default else ""
    where = " Only at `A->B.x`." if option.flow_only else ""
    cells = (
        f"`{option.name}`",
        option.type.name,
        default,
        str(option.importance),
        option.since,
        f"{option.doc}.{where}{_STATES[option.support]}".replace("<", r"\<"),
    )
    escaped = " | ".join(cell.replace("|", r"\|") for cell in cells)
    return f"| {escaped} |"


def _client_names() -> Iterator[str]:
    yield "## Other client settings"
    yield "Known by name, so that misspelt settings are found; without effect in this version."
    yield ""
    for scope in (Scope.CONSUMER, Scope.PRODUCER, Scope.ADMIN):
        others = sorted(name for name in CLIENT_NAMES[scope] if (scope, name) not in OPTIONS)
        names = ", ".join(f"`{name}`" for name in others)
        yield f"- `A.{scope}.x`: {names}"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(reference_page())
