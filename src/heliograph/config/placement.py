"""What each key of an mm2.properties means where it stands; none is passed over in silence.

A key is read by what precedes it:

    A->B.x   settings of a flow            consumer.x, source.consumer.x, … of its clients
    A.x      settings of a cluster         consumer.x, producer.x, admin.x of its clients,
                                           and of the Connect worker whose target is A
    x        settings of all flows or clusters
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.config.client_options import client_option, known_names
from heliograph.config.near_match import did_you_mean, near
from heliograph.config.options import OPTIONS, WORKER_TOP_LEVEL_PREFIXES, Option, Scope, Support
from heliograph.config.values import STRING


@dataclass(frozen=True, slots=True)
class Known:
    """The key sets `option`; `prefix` is what precedes the option's name in it."""

    key: str
    prefix: str
    option: Option


@dataclass(frozen=True, slots=True)
class Ineffective:
    """The key has no effect where it stands, or nowhere; `remark` completes "<key>: …"."""

    key: str
    remark: str


@dataclass(frozen=True, slots=True)
class UnknownAlias:
    """The key speaks of a flow between clusters of which one is not declared."""

    key: str
    alias: str
    suggestion: str | None


Placement = Known | Ineffective | UnknownAlias

# [source.|target.] consumer.|producer.|admin. [override.], as in source.consumer.fetch.max.bytes
_FLOW_CLIENT = re.compile(
    r"(?:(?:source|target)\.)?(?P<kind>consumer|producer|admin)\.(?:override\.)?(?P<name>.+)"
)
_FLOW_CLUSTER = re.compile(r"(?:source|target)\.cluster\.(?P<name>.+)")
_ALIAS_CLIENT = re.compile(r"(?P<kind>consumer|producer|admin)\.(?P<name>.+)")

# Below these stand settings of topics and converters, which only those know:
# offset.storage.segment.bytes
_OPEN_FAMILIES = (
    "offset.storage.",
    "config.storage.",
    "status.storage.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
)

_RIGHT_PLACES = {
    Scope.TOP: ("{name}",),
    Scope.CONNECTOR: ("{source}->{target}.{name}", "{name}"),
    Scope.CLIENT: ("{source}.{name}",),
    Scope.CONSUMER: ("{source}.consumer.{name}",),
    Scope.WORKER: ("{target}.{name}",),
}


class Placer:
    """Places keys, given the declared aliases."""

    def __init__(self, aliases: Sequence[str]) -> None:
        self._aliases = sorted(aliases, key=len, reverse=True)  # us.east before us
        self._pairs = [(s, t) for s in self._aliases for t in self._aliases if s != t]
        self._examples = (*aliases, "A", "B")[:2] if len(aliases) >= 2 else ("A", "B")

    def place(self, key: str) -> Placement:
        for source, target in self._pairs:
            prefix = f"{source}->{target}."
            if key.startswith(prefix):
                return self._in_flow(key, prefix)
        if "->" in key:
            return self._unknown_flow(key)
        for alias in self._aliases:
            if key.startswith(f"{alias}."):
                return self._in_cluster(key, f"{alias}.")
        return self._at_top(key)

    def _in_flow(self, key: str, prefix: str) -> Placement:
        name = key.removeprefix(prefix)
        option = OPTIONS.get((Scope.CONNECTOR, name))
        if option is not None:
            return Known(key, prefix, option)
        if name in ("source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers"):
            return Ineffective(
                key, "is not read in this version; a flow's clusters are those of its aliases"
            )
        if match := _FLOW_CLUSTER.fullmatch(name):
            return self._client(key, Scope.CLIENT, match["name"])
        if match := _FLOW_CLIENT.fullmatch(name):
            return self._client(key, Scope(match["kind"]), match["name"])
        return self._nowhere(key, prefix, name, (Scope.CONNECTOR,))

    def _in_cluster(self, key: str, prefix: str) -> Placement:
        name = key.removeprefix(prefix)
        option = client_option(Scope.WORKER, name)
        if option is not None:
            return Known(key, prefix, option)
        if match := _ALIAS_CLIENT.fullmatch(name):
            return self._client(key, Scope(match["kind"]), match["name"])
        if name.startswith(_OPEN_FAMILIES):
            return Known(key, prefix, _open_setting(name))
        return self._nowhere(key, prefix, name, (Scope.CLIENT, Scope.WORKER))

    def _at_top(self, key: str) -> Placement:
        for scope in (Scope.TOP, Scope.CONNECTOR):
            if (scope, key) in OPTIONS:
                return Known(key, "", OPTIONS[scope, key])
        if key.startswith("config.providers."):
            return Known(key, "", OPTIONS[Scope.TOP, "config.providers"])
        if key.startswith(WORKER_TOP_LEVEL_PREFIXES) and (Scope.WORKER, key) in OPTIONS:
            return Known(key, "", OPTIONS[Scope.WORKER, key])
        if key.startswith(_OPEN_FAMILIES):
            return Known(key, "", _open_setting(key))
        option = client_option(Scope.CLIENT, key)
        if option is not None:
            return Known(key, "", option)
        if match := _ALIAS_CLIENT.fullmatch(key):
            source = self._examples[0]
            return Ineffective(
                key, f"has no effect at the top level, as in MM2; write {source}.{match[0]}"
            )
        return self._nowhere(key, "", key, (Scope.TOP, Scope.CONNECTOR, Scope.CLIENT))

    def _client(self, key: str, scope: Scope, name: str) -> Placement:
        prefix = key.removesuffix(name)
        option = client_option(scope, name)
        if option is not None:
            return Known(key, prefix, option)
        return self._nowhere(key, prefix, name, (scope,))

    def _nowhere(self, key: str, prefix: str, name: str, scopes: Sequence[Scope]) -> Placement:
        """Right name at the wrong place, wrong name, or wrong alias."""
        for scope, places in _RIGHT_PLACES.items():
            if (scope, name) in OPTIONS and scope not in scopes:
                source, target = self._examples
                where = " or ".join(
                    place.format(source=source, target=target, name=name) for place in places
                )
                return Ineffective(key, f"has no effect here; write {where}")
        head, _, tail = key.partition(".")
        alias = None if prefix or not tail else near(head, self._aliases)
        if alias is not None:
            return Ineffective(
                key, f"{head!r} is not one of clusters; did you mean {alias}.{tail}?"
            )
        known = {word for scope in scopes for word in known_names(scope)}
        return Ineffective(key, f"unknown setting, ignored{did_you_mean(name, known, prefix)}")

    def _unknown_flow(self, key: str) -> Placement:
        source, _, rest = key.partition("->")
        target = next((a for a in self._aliases if rest.startswith(f"{a}.")), None)
        target = target if target is not None else rest.partition(".")[0]
        wrong = source if source not in self._aliases else target
        if wrong in self._aliases:
            return Ineffective(key, "a flow from a cluster to itself is never mirrored")
        return UnknownAlias(key, wrong, near(wrong, self._aliases))


def _open_setting(name: str) -> Option:
    return Option(
        name=name,
        type=STRING,
        scope=Scope.WORKER,
        doc="A setting of an internal topic or converter",
        support=Support.LATER,
    )
