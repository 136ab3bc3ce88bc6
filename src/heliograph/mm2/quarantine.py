"""Records of the quarantine topic: what was left out of a mirror, and where to find it.

    key    ["orders",0,12345]     source topic, partition, offset: one record for each, however often
    value  {"flow":"us->eu","topic":"orders","partition":0,"offset":12345,"timestamp":1700000000000,
            "target_topic":"us.orders","size":5061,"limit":2000,"key":"customer 7","reason":"…"}

`size` is that of a batch with this record alone, `limit` the target's max.message.bytes. A `key` that is
no UTF-8 stands as `key_base64`; of one above 1 KiB there is only `key_size`.
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
    """A record that no batch makes small enough for the target."""

    offset: int
    timestamp: int
    key: bytes | None
    size: int
    limit: int

    @property
    def reason(self) -> str:
        return f"needs a batch of {self.size} bytes, the target's max.message.bytes is {self.limit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    flow: str
    source: TopicPartition
    target_topic: str
    record: Oversize

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
                "size": record.size,
                "limit": record.limit,
                **_told(record.key),
                "reason": record.reason,
            }
        )


def _told(key: bytes | None) -> dict[str, Any]:
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
