"""Addresses of the page."""

from __future__ import annotations

from urllib.parse import quote, urlencode

HOME = "/ui"


def to_flow(name: str, **query: str) -> str:
    return f"{HOME}/flows/{quote(name, safe='')}" + (f"?{urlencode(query)}" if query else "")


def to_action(connector: str, action: str) -> str:
    return f"{HOME}/connectors/{quote(connector, safe='')}/{action}"
