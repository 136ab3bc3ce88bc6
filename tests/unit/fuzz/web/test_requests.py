"""Requests of any bytes: an answer that says what is wrong with them, and never a mistake of ours."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from support.rest.asking import HEARTBEAT, Asking

PATHS = (
    "/connectors",
    "/connectors/c",
    "/connectors/c/config",
    "/connectors/c/offsets",
    "/connectors/c/tasks",
    "/connectors/c/restart",
    "/connector-plugins/MirrorSource/config/validate",
    "/admin/loggers/root",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "name",
        "config",
        "initial_state",
        "offsets",
        "partition",
        "offset",
        "level",
        "connector.class",
    ]
)
objects = st.dictionaries(fields | st.sampled_from(sorted(HEARTBEAT)), values, max_size=6)
bodies = st.binary(max_size=200) | (values | objects).map(lambda value: json.dumps(value).encode())


def worker() -> Asking:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": HEARTBEAT})
    asking.ask("PUT", "/connectors/c/stop")
    return asking


@given(st.sampled_from(METHODS), st.sampled_from(PATHS), bodies)
def test_any_body_is_answered(method: str, path: str, body: bytes) -> None:
    assert worker().ask(method, path, body).status < 500


@given(st.sampled_from(METHODS), st.text(st.characters(max_codepoint=255), max_size=40))
def test_any_path_is_answered(method: str, path: str) -> None:
    assert worker().ask(method, f"/{path}").status < 500


@given(st.dictionaries(st.sampled_from(["authorization", "accept", "content-type"]), st.text()))
def test_any_header_is_answered(headers: dict[str, str]) -> None:
    assert worker().ask("POST", "/connectors", {"name": "d"}, headers).status < 500
