"""Invalid request bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping

from conformance.sequence.names import HEARTBEAT, HEARTBEAT_CONFIG, SOURCE_CONFIG
from conformance.step import Step, raw, send

_CONFIG_PATH = f"/connectors/{HEARTBEAT}/config"


def _create(name: str, content: object) -> Step:
    return send(f"create: {name}", "POST", "/connectors", content)


def _create_raw(name: str, body: str, content_type: str | None = "application/json") -> Step:
    return raw(f"create: {name}", "POST", "/connectors", body, content_type)


def _put_raw(name: str, body: str, content_type: str | None = "application/json") -> Step:
    return raw(f"put: {name}", "PUT", _CONFIG_PATH, body, content_type)


def _without(config: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in config.items() if key != name}


_GOOD = json.dumps({"name": HEARTBEAT, "config": HEARTBEAT_CONFIG})

BODIES = (
    _create_raw("no body", ""),
    _create_raw("no body, no content type", "", None),
    _create_raw("broken JSON", "{"),
    _create_raw("broken JSON inside", '{"name": "x", "config": {"a" "b"}}'),
    _create_raw("not JSON at all", "name=x"),
    _create_raw("a list", "[]"),
    _create_raw("a text", '"x"'),
    _create_raw("a number", "7"),
    _create_raw("null", "null"),
    _create_raw("an empty object", "{}"),
    _create_raw("something behind the object", '{"name": "x", "config": {}} trailing'),
    _create_raw("a form", "name=x", "application/x-www-form-urlencoded"),
    _create_raw("plain text", _GOOD, "text/plain"),
    _create_raw("XML", "<connector/>", "application/xml"),
    _create_raw("a content type that is none", _GOOD, "json"),
    _create_raw("no content type", '{"name": "x", "config": {}}', None),
    _put_raw("no content type", "{}", None),
    send(
        "create: from a page of an unknown origin",
        "POST",
        "/connectors",
        {"name": "x", "config": {}},
        Origin="http://unknown.example",
    ),
    send("connectors: addressed to another host", "GET", "/connectors", Host="attacker.example"),
    _create_raw("another encoding than UTF-8", '{"name": "x\\udcff", "config": {}}'),
    _create_raw("deep nesting", "[" * 1500 + "]" * 1500),
    _create("no config", {"name": "x"}),
    _create("config null", {"name": "x", "config": None}),
    _create("config a list", {"name": "x", "config": []}),
    _create("config a text", {"name": "x", "config": "a=b"}),
    _create("no name", {"config": HEARTBEAT_CONFIG}),
    _create("name null", {"name": None, "config": HEARTBEAT_CONFIG}),
    _create("name a number", {"name": 7, "config": {}}),
    _create("name a list", {"name": ["x"], "config": {}}),
    _create("empty name", {"name": "", "config": HEARTBEAT_CONFIG}),
    _create("blank name", {"name": "  ", "config": HEARTBEAT_CONFIG}),
    _create("name with a control character", {"name": "a\u0007b", "config": HEARTBEAT_CONFIG}),
    _create("unknown field", {"name": "x", "config": {}, "state": "RUNNING"}),
    _create("unknown initial state", {"name": "x", "config": {}, "initial_state": "ASLEEP"}),
    _create("initial state in lower case", {"name": "x", "config": {}, "initial_state": "paused"}),
    _create("initial state a number", {"name": "x", "config": {}, "initial_state": 1}),
    _create("empty config", {"name": "x", "config": {}}),
    _create("names that differ", {"name": "x", "config": {**HEARTBEAT_CONFIG, "name": "y"}}),
    _create("no class", {"name": "x", "config": {"tasks.max": "1"}}),
    _create("unknown class", {"name": "x", "config": {"connector.class": "no.such.Connector"}}),
    _create("nested values", {"name": "x", "config": {**HEARTBEAT_CONFIG, "topics": {"a": 1}}}),
    _create("list values", {"name": "x", "config": {**HEARTBEAT_CONFIG, "topics": ["a"]}}),
    _create(
        "invalid values",
        {
            "name": "x",
            "config": {
                **SOURCE_CONFIG,
                "tasks.max": "0",
                "offset.lag.max": "x",
                "refresh.topics.enabled": "?",
            },
        },
    ),
    _create("no alias", {"name": "x", "config": _without(SOURCE_CONFIG, "source.cluster.alias")}),
    _put_raw("no body", ""),
    _put_raw("broken JSON", '{"connector.class"'),
    _put_raw("a list", "[]"),
    _put_raw("null", "null"),
    _put_raw("a text", '"x"'),
    _put_raw("an empty object", "{}"),
    _put_raw("plain text", json.dumps(HEARTBEAT_CONFIG), "text/plain"),
    send("put: names that differ", "PUT", _CONFIG_PATH, {**HEARTBEAT_CONFIG, "name": "y"}),
    send("put: nested", "PUT", _CONFIG_PATH, {"name": HEARTBEAT, "config": HEARTBEAT_CONFIG}),
    send("put: unknown class", "PUT", _CONFIG_PATH, {"connector.class": "NoSuchConnector"}),
    send("put: invalid", "PUT", _CONFIG_PATH, {**HEARTBEAT_CONFIG, "tasks.max": "none"}),
    send(
        "put: huge, and invalid",
        "PUT",
        _CONFIG_PATH,
        {**HEARTBEAT_CONFIG, "tasks.max": "0", **{f"filler.{n}": "x" * 225_000 for n in range(4)}},
    ),
    send("bodies: nothing was made", "GET", "/connectors"),
)
