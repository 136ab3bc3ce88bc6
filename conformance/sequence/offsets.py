"""Reads, alters and resets offsets; the source connector is stopped at the beginning."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.sequence.names import ARROW_PATH, HEARTBEAT, SOURCE, TOPIC
from conformance.step import Step, get, raw, running, send, wait

_OFFSETS = f"/connectors/{SOURCE}/offsets"
_HEARTBEATS = f"{ARROW_PATH}/offsets"


def _entry(
    offset: object, /, whole: Mapping[str, object] | None = None, **changes: object
) -> dict[str, object]:
    """An alteration of partition 0 of the topic with changes, or of the given partition and offset."""
    usual = {"cluster": "A", "topic": TOPIC, "partition": 0}
    return {"partition": {**(usual if whole is None else whole), **changes}, "offset": offset}


def _alter(name: str, *entries: object) -> Step:
    return send(f"alter: {name}", "PATCH", _OFFSETS, {"offsets": entries})


def _alter_raw(name: str, body: str) -> Step:
    return raw(f"alter: {name}", "PATCH", _OFFSETS, body)


OFFSETS = (
    get("offsets", _OFFSETS, until=lambda answer: len(answer["offsets"]) == 2),
    send("offsets: POST", "POST", _OFFSETS, {}),
    send("offsets: PUT", "PUT", _OFFSETS, {}),
    send("offsets: OPTIONS", "OPTIONS", _OFFSETS),
    _alter_raw("no body", ""),
    _alter_raw("broken JSON", '{"offsets": ['),
    _alter_raw("null", "null"),
    _alter_raw("a list", "[]"),
    _alter_raw("an empty object", "{}"),
    _alter_raw("an unknown field", '{"offset": []}'),
    _alter_raw("offsets null", '{"offsets": null}'),
    _alter_raw("offsets a text", '{"offsets": "earliest"}'),
    _alter_raw("an entry that is a text", '{"offsets": ["x"]}'),
    _alter_raw("an entry with another field", '{"offsets": [{"topic": "orders"}]}'),
    _alter("no entries"),
    _alter("an empty entry", {}),
    _alter("a partition that is null", {"partition": None, "offset": {"offset": 1}}),
    _alter("a partition that is a text", {"partition": "orders-0", "offset": {"offset": 1}}),
    _alter("an offset that is a number", {"partition": _entry(1)["partition"], "offset": 5}),
    _alter("an empty partition", _entry({"offset": 1}, {})),
    _alter("no topic", _entry({"offset": 1}, {"cluster": "A", "partition": 0})),
    _alter("no cluster", _entry({"offset": 1}, {"topic": TOPIC, "partition": 0})),
    _alter("no partition number", _entry({"offset": 1}, {"cluster": "A", "topic": TOPIC})),
    _alter("a topic that is a number", _entry({"offset": 1}, topic=5)),
    _alter("a cluster that is a number", _entry({"offset": 1}, cluster=5)),
    _alter("a partition number that is a text", _entry({"offset": 1}, partition="zero")),
    _alter("a negative partition number", _entry({"offset": 1}, partition=-1)),
    _alter("a partition number with a fraction", _entry({"offset": 1}, partition=0.5)),
    _alter("an additional key", _entry({"offset": 1}, extra="x")),
    _alter("an empty offset", _entry({})),
    _alter("another key in the offset", _entry({"position": 1})),
    _alter("an offset that is a text", _entry({"offset": "one"})),
    _alter("an offset of null", _entry({"offset": None})),
    _alter("a negative offset", _entry({"offset": -1})),
    _alter("an offset with a fraction", _entry({"offset": 1.5})),
    _alter("another cluster", _entry({"offset": 1}, cluster="Z")),
    _alter("one partition", _entry({"offset": 3})),
    get("alter: one partition, seen", _OFFSETS),
    _alter("two partitions, one taken away", _entry({"offset": 4}), _entry(None, partition=1)),
    get("alter: two partitions, seen", _OFFSETS, until=lambda found: len(found["offsets"]) == 3),
    _alter("the same partition twice", _entry({"offset": 5}), _entry({"offset": 6})),
    send("reset", "DELETE", _OFFSETS),
    get("reset: seen", _OFFSETS, until=lambda found: found["offsets"] == []),
    send("reset: again", "DELETE", _OFFSETS),
    send("reset: while it runs", "DELETE", f"/connectors/{HEARTBEAT}/offsets"),
    send(
        "alter: while it runs",
        "PATCH",
        f"/connectors/{HEARTBEAT}/offsets",
        {
            "offsets": [
                {
                    "partition": {"sourceClusterAlias": "A", "targetClusterAlias": "B"},
                    "offset": {"offset": 0},
                }
            ]
        },
    ),
    get("heartbeat offsets", _HEARTBEATS, until=lambda answer: len(answer["offsets"]) == 1),
    send(
        "alter: heartbeats",
        "PATCH",
        _HEARTBEATS,
        {
            "offsets": [
                {
                    "partition": {"sourceClusterAlias": "A", "targetClusterAlias": "B"},
                    "offset": {"offset": 0},
                }
            ]
        },
    ),
    send(
        "alter: heartbeats to another offset",
        "PATCH",
        _HEARTBEATS,
        {
            "offsets": [
                {
                    "partition": {"sourceClusterAlias": "A", "targetClusterAlias": "B"},
                    "offset": {"offset": 7},
                }
            ]
        },
    ),
    send(
        "alter: heartbeats of a data partition",
        "PATCH",
        _HEARTBEATS,
        {"offsets": [_entry({"offset": 0})]},
    ),
    send("reset: heartbeats", "DELETE", _HEARTBEATS),
    send("reset: topics", "PUT", f"/connectors/{SOURCE}/topics/reset"),
    get(
        "reset: topics, seen",
        f"/connectors/{SOURCE}/topics",
        until=lambda answer: answer[SOURCE]["topics"] == [],
    ),
    send("reset: topics, POST", "POST", f"/connectors/{SOURCE}/topics/reset"),
    send("offsets: resume", "PUT", f"/connectors/{SOURCE}/resume"),
    wait("offsets: runs again", f"/connectors/{SOURCE}/status", running(2)),
)
