"""Creates connectors: running, stopped, paused; by POST and PUT; with a name that must be encoded."""

from __future__ import annotations

from conformance.sequence.names import (
    ARROW,
    ARROW_PATH,
    CHECKPOINT,
    CHECKPOINT_CONFIG,
    HEARTBEAT,
    HEARTBEAT_CONFIG,
    SOURCE,
    SOURCE_CONFIG,
)
from conformance.step import get, in_state, running, send, wait

CREATING = (
    send("create: source", "POST", "/connectors", {"name": SOURCE, "config": SOURCE_CONFIG}),
    send("create: again", "POST", "/connectors", {"name": SOURCE, "config": SOURCE_CONFIG}),
    wait("source runs", f"/connectors/{SOURCE}/status", running(2)),
    send("put: checkpoint", "PUT", f"/connectors/{CHECKPOINT}/config", CHECKPOINT_CONFIG),
    send(
        "create: heartbeat, stopped",
        "POST",
        "/connectors",
        {"name": HEARTBEAT, "config": HEARTBEAT_CONFIG, "initial_state": "STOPPED"},
    ),
    wait("heartbeat is stopped", f"/connectors/{HEARTBEAT}/status", in_state("STOPPED", 0)),
    send(
        "create: encoded name, paused",
        "POST",
        "/connectors",
        {
            "name": f"  {ARROW} ",
            "config": {**HEARTBEAT_CONFIG, "connector.class": "MirrorHeartbeat"},
            "initial_state": "PAUSED",
        },
    ),
    wait("encoded name is paused", f"{ARROW_PATH}/status", in_state("PAUSED", 0)),
    send(
        "create: encoded name, again",
        "POST",
        "/connectors",
        {"name": ARROW, "config": {**HEARTBEAT_CONFIG, "connector.class": "MirrorHeartbeat"}},
    ),
    send(
        "put: with a name that is repeated",
        "PUT",
        "/connectors/repeated%20name/config",
        {**HEARTBEAT_CONFIG, "name": "repeated name", "emit.heartbeats.enabled": "false"},
    ),
    wait("repeated name runs", "/connectors/repeated%20name/status", running(0)),
    get("connectors: five", "/connectors", until=lambda names: len(names) == 5),
)
