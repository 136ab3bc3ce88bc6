"""Finds the option that each key of an mm2.properties sets, or why the key has no effect at its place.

The prefix of a key decides:

    A->B.x   settings of a flow            consumer.x, source.consumer.x, … of its clients
    A.x      settings of a cluster         consumer.x, producer.x, admin.x of its clients,
                                           and of the Connect worker whose target is A
    x        settings of all flows or clusters
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heliograph.config.options import (
    OPTIONS,
    PROVIDERS,
    WORKER_TOP_LEVEL_PREFIXES,
    Option,
    Scope,
    Support,
)
from heliograph.config.options.kafka_clients import client_kind, client_option, known_names
from heliograph.config.options.top import HTTPS_PREFIXES, is_of_rest
from heliograph.config.options.values import STRING
from heliograph.config.resolve.known_mistakes import (
    FLOW_CLIENT,
    WRONG_NAMES,
    chooses_topics,
    misleading_client,
)
from heliograph.config.resolve.near_match import did_you_mean, near


@dataclass(frozen=True, slots=True)
class Known:
    """The key sets `option`; `prefix` is what precedes the option's name. A `remark` completes "<key>: …"
    and says why the setting has no effect at this place."""

    key: str
    prefix: str
    option: Option
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Ineffective:
    """The key has no effect, here or anywhere; `remark` completes "<key>: …". `chooses_topics`: it was
    meant to choose topics."""

    key: str
    remark: str
    chooses_topics: bool = False


@dataclass(frozen=True, slots=True)
class UnknownAlias:
    """The key names a flow of which one cluster is not declared."""

    key: str
    alias: str
    suggestion: str | None


KeyUse = Known | Ineffective | UnknownAlias

_FLOW_CLUSTER = re.compile(r"(?:source|target)\.cluster\.(?P<name>.+)")
CLIENT_SETTING = re.compile(r"(?P<kind>consumer|producer|admin)\.(?P<name>.+)")
PROVIDER_SETTING = re.compile(r"config\.providers\.(?P<provider>[^.]+)\.(?P<name>.+)")

# Any name may follow these: settings of internal topics and of converters, such as
# offset.storage.segment.bytes
OPEN_FAMILIES = (
    "offset.storage.",
    "config.storage.",
    "status.storage.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
)

#: Aliases of the user's choice follow these; `config/transforms/read.py` checks what comes after them.
TRANSFORMS = ("transforms.", "predicates.")

UNKNOWN = "unknown setting, ignored"

_RIGHT_PLACES = {
    Scope.TOP: ("{name}",),
    Scope.CONNECTOR: ("{source}->{target}.{name}", "{name}"),
    Scope.CLIENT: ("{source}.{name}",),
    Scope.CONSUMER: ("{source}.consumer.{name}",),
    Scope.PRODUCER: ("{target}.producer.{name}",),
    Scope.WORKER: ("{target}.{name}",),
}


class KeyLookup:
    """Looks up keys, given the declared aliases, the sources and targets of enabled flows, and the flows
    with classes of the user's, which may read any setting."""

    def __init__(
        self,
        aliases: Sequence[str],
        sources: Sequence[str] = (),
        targets: Sequence[str] = (),
        own_classes: Sequence[str] = (),
    ) -> None:
        self._aliases = sorted(aliases, key=len, reverse=True)  # us.east before us
        self._sources = frozenset(sources)
        self._targets = frozenset(targets)
        self._own_classes = frozenset(own_classes)
        self._pairs = [(s, t) for s in self._aliases for t in self._aliases if s != t]
        self._examples = (aliases[0], aliases[1]) if len(aliases) >= 2 else ("A", "B")

    def look_up(self, key: str) -> KeyUse:
        for source, target in self._pairs:
            if key.startswith(f"{source}->{target}."):
                return self._in_flow(key, source, target)
        if "->" in key:
            return self._unknown_flow(key)
        for alias in self._aliases:
            if key.startswith(f"{alias}."):
                return self._in_cluster(key, alias)
        return self._at_top(key)

    def _in_flow(self, key: str, source: str, target: str) -> KeyUse:
        flow = f"{source}->{target}"
        prefix = f"{flow}."
        name = key.removeprefix(prefix)
        option = OPTIONS.get((Scope.CONNECTOR, name)) or OPTIONS.get((Scope.CLIENT, name))
        if option is not None and name != "bootstrap.servers":
            remark = (
                f"has no effect, as in MM2; write {source}.{name} or {target}.{name}"
                if option.scope is Scope.CLIENT
                else None
            )
            return Known(key, prefix, option, remark)
        if name.startswith(TRANSFORMS):
            return Known(key, prefix, transform_setting(name))
        if name in ("source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers"):
            return Ineffective(
                key, "has no effect in this version; a flow uses the brokers of its two aliases"
            )
        if match := _FLOW_CLUSTER.fullmatch(name):
            return self._client(key, Scope.CLIENT, match["name"])
        if match := FLOW_CLIENT.fullmatch(name):
            misleading = misleading_client(
                match,
                producer=f"{target}.producer.",
                consumer=f"{source}.consumer.",
                own=f"{flow}.",
            )
            if misleading:
                return Ineffective(key, misleading)
            return self._client(key, Scope(match["kind"]), match["name"])
        placed = self._nowhere(key, prefix, name, (Scope.CONNECTOR,), (source, target))
        if not isinstance(placed, Ineffective) or flow not in self._own_classes:
            return placed
        if placed.remark == UNKNOWN:
            return Known(key, prefix, own_setting(name))
        return replace(placed, chooses_topics=False)

    def _in_cluster(self, key: str, alias: str) -> KeyUse:
        prefix = f"{alias}."
        name = key.removeprefix(prefix)
        option = client_option(Scope.WORKER, name)
        if option is not None:
            return Known(key, prefix, option)
        if match := CLIENT_SETTING.fullmatch(name):
            return self._client_of_cluster(key, alias, match)
        if name.startswith(OPEN_FAMILIES) and name not in WRONG_NAMES:
            return Known(key, prefix, open_setting(name))
        return self._nowhere(key, prefix, name, (Scope.CLIENT, Scope.WORKER), (alias, alias))

    def _client_of_cluster(self, key: str, alias: str, match: re.Match[str]) -> KeyUse:
        placed = self._client(key, Scope(match["kind"]), match["name"])
        if not isinstance(placed, Known) or placed.option.support is not Support.ACTED:
            return placed
        if match["kind"] == Scope.CONSUMER and alias not in self._sources:
            return replace(placed, remark=f"has no effect: no flow from {alias} is enabled")
        if match["kind"] == Scope.PRODUCER and alias not in self._targets:
            return replace(placed, remark=f"has no effect: no flow to {alias} is enabled")
        return placed

    def _at_top(self, key: str) -> KeyUse:
        for scope in (Scope.TOP, Scope.CONNECTOR):
            option = OPTIONS.get((scope, key))
            if option is not None and option.flow_only:
                source, target = self._examples
                return Ineffective(
                    key,
                    f"has no effect at the top level, as in MM2; write {source}->{target}.{key}",
                )
            if option is not None:
                return Known(key, "", option)
        if key.startswith(TRANSFORMS):
            source, target = self._examples
            return Ineffective(
                key, f"has no effect at the top level, as in MM2; write {source}->{target}.{key}"
            )
        if match := PROVIDER_SETTING.fullmatch(key):
            return of_provider(key, match)
        option = _without_alias(key)
        if option is not None:
            return Known(key, "", option)
        if key.startswith("replication.policy.") and self._own_classes:
            return Known(key, "", own_setting(key))
        if match := CLIENT_SETTING.fullmatch(key):
            alias = self._examples[1 if match["kind"] == Scope.PRODUCER else 0]
            return Ineffective(
                key, f"has no effect at the top level, as in MM2; write {alias}.{match[0]}"
            )
        scopes = (Scope.TOP, Scope.CONNECTOR, Scope.CLIENT)
        return self._nowhere(key, "", key, scopes, self._examples)

    def _client(self, key: str, scope: Scope, name: str) -> KeyUse:
        prefix = key.removesuffix(name)
        option = client_option(scope, name)
        if option is not None:
            return Known(key, prefix, option)
        return self._nowhere(key, prefix, name, (scope,), self._examples)

    def _nowhere(
        self, key: str, prefix: str, name: str, scopes: Sequence[Scope], pair: tuple[str, str]
    ) -> KeyUse:
        """A key that sets nothing: a wrong name, a wrong place, a wrong alias, or misspelt."""
        known = {word for scope in scopes for word in known_names(scope)}
        topics = chooses_topics(name, known)
        if name in WRONG_NAMES:
            return Ineffective(key, WRONG_NAMES[name].format(prefix=prefix), topics)
        if right := self._right_place(name, scopes, pair):
            return Ineffective(key, f"has no effect here; write {right}", topics)
        head, _, tail = key.partition(".")
        alias = None if prefix or not tail else near(head, self._aliases)
        if alias is not None:
            return Ineffective(
                key, f"{head!r} is not one of clusters; did you mean {alias}.{tail}?"
            )
        return Ineffective(key, f"{UNKNOWN}{did_you_mean(name, known, prefix)}", topics)

    def _right_place(self, name: str, scopes: Sequence[Scope], pair: tuple[str, str]) -> str | None:
        scope = next((s for s in _RIGHT_PLACES if (s, name) in OPTIONS), client_kind(name))
        if scope is None or scope in scopes:
            return None
        # A flow's setting under a cluster's alias does not tell which flow is meant.
        source, target = self._examples if scope in (Scope.CONNECTOR, Scope.WORKER) else pair
        return " or ".join(
            place.format(source=source, target=target, name=name) for place in _RIGHT_PLACES[scope]
        )

    def _unknown_flow(self, key: str) -> KeyUse:
        source, _, rest = key.partition("->")
        target = next((a for a in self._aliases if rest.startswith(f"{a}.")), None)
        target = target if target is not None else rest.partition(".")[0]
        wrong = source if source not in self._aliases else target
        if wrong in self._aliases:
            return Ineffective(key, "has no effect: a flow cannot have the same source and target")
        return UnknownAlias(key, wrong, near(wrong, self._aliases))


def _without_alias(key: str) -> Option | None:
    """The option of the REST server, of all workers, or of all clusters' clients."""
    if key.startswith(WORKER_TOP_LEVEL_PREFIXES) and (Scope.WORKER, key) in OPTIONS:
        return OPTIONS[Scope.WORKER, key]
    if key.startswith(OPEN_FAMILIES) and key not in WRONG_NAMES:
        return open_setting(key)
    return _of_rest(key) or client_option(Scope.CLIENT, key)


def _of_rest(key: str) -> Option | None:
    """The option of a REST server, which `run` has, too. Its connectors come from the file, so that what
    connectors created through REST may name has no effect there."""
    if key.startswith(HTTPS_PREFIXES):
        return https_setting(key)
    if not is_of_rest(key) or key.startswith("rest.connector."):
        return None
    return OPTIONS.get((Scope.SERVE, key))


def of_provider(key: str, match: re.Match[str]) -> KeyUse:
    names = {option.name.partition("<name>.")[2]: option for option in PROVIDERS}
    prefix = key.removesuffix(match["name"])
    if match["name"] in names:
        return Known(key, prefix, names[match["name"]])
    return Ineffective(key, f"{UNKNOWN}{did_you_mean(match['name'], names, prefix)}")


def open_setting(name: str) -> Option:
    return Option(
        name=name,
        type=STRING,
        scope=Scope.WORKER,
        doc="A setting of an internal topic or converter",
        support=Support.LATER,
    )


def transform_setting(name: str) -> Option:
    return Option(
        name=name,
        type=STRING,
        scope=Scope.CONNECTOR,
        doc="A setting of a transformation of records",
    )


def https_setting(name: str) -> Option:
    return Option(name=name, type=STRING, scope=Scope.SERVE, doc="TLS of the REST server")


def own_setting(name: str) -> Option:
    return Option(
        name=name, type=STRING, scope=Scope.CONNECTOR, doc="A setting of a user's own class"
    )
