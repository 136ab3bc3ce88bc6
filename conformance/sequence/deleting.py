"""Deletes connectors; their offsets stay."""

from __future__ import annotations

from conformance.sequence.names import ARROW_PATH, CHECKPOINT, HEARTBEAT, SOURCE
from conformance.step import get, send

_SOURCE = f"/connectors/{SOURCE}"

DELETING = (
    send("delete: with a body", "DELETE", f"/connectors/{CHECKPOINT}", {"a": 1}),
    send("delete", "DELETE", _SOURCE),
    get("delete: is gone", "/connectors", until=lambda names: SOURCE not in names),
    get("delete: info", _SOURCE),
    send("delete: again", "DELETE", _SOURCE),
    send("delete: pause of what is gone", "PUT", f"{_SOURCE}/pause"),
    send("delete: encoded name", "DELETE", ARROW_PATH),
    send("delete: another", "DELETE", f"/connectors/{HEARTBEAT}"),
    send("delete: blank in the name", "DELETE", "/connectors/repeated%20name"),
    get("delete: nothing is left", "/connectors", until=lambda names: not names),
    get("delete: nothing to expand", "/connectors?expand=status&expand=info"),
    get("delete: worker is well", "/health"),
)
