"""Finds the option that each key of a connector's configuration sets, or why the key has no effect.

x                                      a setting of the connector
source.cluster.x, target.cluster.x     how to reach a cluster (CLIENT_CONFIG_DEF, no more)
source.consumer.x, target.admin.x, …   settings of MM2's own clients; without a side, on both sides
producer.override.x                    settings of the worker's producer, which writes the records
"""

from __future__ import annotations

import re
from dataclasses import replace

from heliograph.config.options import OPTIONS, Option, Scope, Support
from heliograph.config.options.kafka_clients import client_option, known_names
from heliograph.config.resolve.key_lookup import (
    OPEN_FAMILIES,
    TRANSFORMS,
    UNKNOWN,
    Ineffective,
    KeyUse,
    Known,
    open_setting,
    own_setting,
    transform_setting,
)
from heliograph.config.resolve.known_mistakes import (
    FLOW_CLIENT,
    WRONG_NAMES,
    chooses_topics,
    misleading_client,
)
from heliograph.config.resolve.layers import is_client_config
from heliograph.config.resolve.near_match import did_you_mean

_SIDE = re.compile(r"(?P<side>source|target)\.cluster\.(?P<name>.+)")
_CONVERTERS = ("key.converter.", "value.converter.", "header.converter.")
_OF_CONNECT = ("topic.creation.", "errors.deadletterqueue.")
#: Without effect or refused in a file of flows, but read in a connector's configuration.
_OWN: dict[str, Option] = {
    name: replace(OPTIONS[Scope.CONNECTOR, name], support=Support.ACTED, valid=None)
    for name in (
        "name",
        "connector.class",
        "source.cluster.alias",
        "target.cluster.alias",
        "offsets.storage.topic",
    )
}


def look_up(key: str, *, own_classes: bool) -> KeyUse:
    """`own_classes`: the connector names a class of the user's, which may read any setting."""
    option = _OWN.get(key) or OPTIONS.get((Scope.CONNECTOR, key))
    if option is not None:
        return Known(key, "", option)
    if match := _SIDE.fullmatch(key):
        return _of_cluster(key, match)
    if match := FLOW_CLIENT.fullmatch(key):
        return _of_client(key, match)
    if key in WRONG_NAMES:
        topics = chooses_topics(key, ()) and not own_classes
        return Ineffective(key, WRONG_NAMES[key].format(prefix=""), topics)
    if key.startswith(_CONVERTERS):
        return Known(key, "", open_setting(key))
    if key.startswith(TRANSFORMS):
        return Known(key, "", transform_setting(key))
    if key.startswith(_OF_CONNECT):
        return Ineffective(key, "has no effect in this version")
    return _elsewhere(key, own_classes)


def _elsewhere(key: str, own_classes: bool) -> KeyUse:
    if is_client_config(key):
        return Ineffective(
            key, f"has no effect, as in MM2; write source.cluster.{key} or target.cluster.{key}"
        )
    if (Scope.TOP, key) in OPTIONS:
        return Ineffective(key, "has no effect in a connector; it is a setting of mm2.properties")
    if own_classes:
        return Known(key, "", own_setting(key))
    if (Scope.WORKER, key) in OPTIONS or key.startswith(OPEN_FAMILIES):
        return Ineffective(key, "has no effect in a connector; it is a setting of the worker")
    known = known_names(Scope.CONNECTOR)
    return Ineffective(key, f"{UNKNOWN}{did_you_mean(key, known)}", chooses_topics(key, known))


def _of_cluster(key: str, match: re.Match[str]) -> KeyUse:
    name, side = match["name"], match["side"]
    if (Scope.CLIENT, name) in OPTIONS:
        return Known(key, f"{side}.cluster.", OPTIONS[Scope.CLIENT, name])
    kinds = [
        kind
        for kind in (Scope.CONSUMER, Scope.PRODUCER, Scope.ADMIN)
        if client_option(kind, name) is not None
    ]
    if not kinds:
        prefix = f"{side}.cluster."
        return Ineffective(key, f"{UNKNOWN}{did_you_mean(name, known_names(Scope.CLIENT), prefix)}")
    right = " or ".join(f"{side}.{kind}.{name}" for kind in kinds)
    return Ineffective(key, f"has no effect here, as in MM2; write {right}")


def _of_client(key: str, match: re.Match[str]) -> KeyUse:
    kind, name = Scope(match["kind"]), match["name"]
    prefix = key.removesuffix(name)
    option = client_option(kind, name)
    if option is None:
        return Ineffective(key, f"{UNKNOWN}{did_you_mean(name, known_names(kind), prefix)}")
    remark = None
    if option.scope is not Scope.CLIENT and option.support is Support.ACTED:
        remark = misleading_client(
            match, producer="producer.override.", consumer="source.consumer.", own="source."
        )
    return Known(key, prefix, option, remark)
