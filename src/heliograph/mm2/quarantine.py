"""Records of the quarantine topic: source records that were not mirrored, with their coordinates.

    key    ["orders",0,12345]     source topic, partition, offset: rewritten if it happens again
    value  {"flow":"us->eu","topic":"orders","partition":0,"offset":12345,"timestamp":1700000000000,
            "target_topic":"us.orders","size":5061,"limit":2000,"key":"customer 7","reason":"…"}

`size` is that of a batch with this record alone, `limit` the target's max.message.bytes; a record that failed
in a chain of transformations has neither. A key that is not
UTF-8 is written as `key_base64`; of a key above 1 KiB only `key_size` is written.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from heliograph.model import TopicPartition

_KEY_BYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversize:
    """A record too large for the target even in a batch of its own."""

    offset: int
    timestamp: int
    key: bytes | None
    size: int
    limit: int

    @property
    def reason(self) -> str:
        return f"needs a batch of {self.size} bytes, the target's max.message.bytes is {self.limit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Untransformed:
    """A record that failed in a chain of transformations. `reason` has no contents of it."""

    offset: int
    timestamp: int
    key: bytes | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    flow: str
    source: TopicPartition
    target_topic: str
    record: Oversize | Untransformed

    def key(self) -> bytes:
        return _json([*self.source, self.record.offset])

    def value(self) -> bytes:
        record = self.record
        return _json(
            {
                "flow": self.flow,
                "topic": self.source.topic,
                "partition": self.source.partition,
                "offset": record.offset,
                "timestamp": record.timestamp,
                "target_topic": self.target_topic,
                **_size_fields(record),
                **_key_fields(record.key),
                "reason": record.reason,
            }
        )


def _size_fields(record: Oversize | Untransformed) -> dict[str, Any]:
    return {"size": record.size, "limit": record.limit} if isinstance(record, Oversize) else {}


def _key_fields(key: bytes | None) -> dict[str, Any]:
    if key is None:
        return {"key": None}
    if len(key) > _KEY_BYTES:
        return {"key_size": len(key)}
    try:
        return {"key": key.decode()}
    except UnicodeDecodeError:
        return {"key_base64": base64.b64encode(key).decode()}


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
