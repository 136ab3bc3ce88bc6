"""Plugins and their settings."""

from __future__ import annotations

from conformance.sequence.names import CHECKPOINT_CLASS, HEARTBEAT_CLASS, SOURCE_CLASS
from conformance.step import get, send

_PLUGINS = "/connector-plugins"
_CONVERTERS = "org.apache.kafka.connect.converters"

PLUGINS = (
    get("plugins", _PLUGINS),
    get("plugins: only connectors", f"{_PLUGINS}?connectorsOnly=true"),
    get("plugins: all", f"{_PLUGINS}?connectorsOnly=false"),
    get("plugins: only connectors, neither true nor false", f"{_PLUGINS}?connectorsOnly=perhaps"),
    send("plugins: POST", "POST", _PLUGINS, {}),
    send("plugins: OPTIONS", "OPTIONS", _PLUGINS),
    get("plugin config: source", f"{_PLUGINS}/{SOURCE_CLASS}/config"),
    get("plugin config: checkpoint", f"{_PLUGINS}/{CHECKPOINT_CLASS}/config"),
    get("plugin config: heartbeat", f"{_PLUGINS}/{HEARTBEAT_CLASS}/config"),
    get("plugin config: simple name", f"{_PLUGINS}/MirrorSourceConnector/config"),
    get("plugin config: alias", f"{_PLUGINS}/MirrorSource/config"),
    get("plugin config: alias of a heartbeat", f"{_PLUGINS}/MirrorHeartbeat/config"),
    get("plugin config: unknown", f"{_PLUGINS}/NoSuchConnector/config"),
    get("plugin config: lower case", f"{_PLUGINS}/mirrorsource/config"),
    get("plugin config: a class that is no plugin", f"{_PLUGINS}/java.lang.String/config"),
    get("plugin config: a converter", f"{_PLUGINS}/{_CONVERTERS}.ByteArrayConverter/config"),
    get("plugin config: latest version", f"{_PLUGINS}/MirrorSource/config?version=latest"),
    get("plugin config: its version", f"{_PLUGINS}/MirrorHeartbeat/config?version=4.3.1"),
    get("plugin config: another version", f"{_PLUGINS}/MirrorHeartbeat/config?version=9.9"),
    get("plugin config: a range", f"{_PLUGINS}/MirrorHeartbeat/config?version=%5B4.0,5.0)"),
    get("plugin config: no version", f"{_PLUGINS}/MirrorHeartbeat/config?version=%5B1,"),
    send("plugin config: PUT", "PUT", f"{_PLUGINS}/MirrorSource/config", {}),
    get("plugin validate: GET", f"{_PLUGINS}/MirrorSource/config/validate"),
)
