from __future__ import annotations

import json
from dataclasses import replace

from heliograph.mm2.quarantine import Oversize, Quarantined
from heliograph.model import TopicPartition

RECORD = Oversize(offset=12, timestamp=7, key=b"customer 7", size=5061, limit=2000)
ENTRY = Quarantined(
    flow="us->eu", source=TopicPartition("orders", 3), target_topic="us.orders", record=RECORD
)


def told(key: bytes | None) -> dict[str, object]:
    value: dict[str, object] = json.loads(replace(ENTRY, record=replace(RECORD, key=key)).value())
    return {name: content for name, content in value.items() if name.startswith("key")}


def test_the_key_is_the_records_place_on_the_source() -> None:
    assert ENTRY.key() == b'["orders",3,12]'


def test_the_value_has_all_that_it_takes_to_find_the_record() -> None:
    assert json.loads(ENTRY.value()) == {
        "flow": "us->eu",
        "topic": "orders",
        "partition": 3,
        "offset": 12,
        "timestamp": 7,
        "target_topic": "us.orders",
        "size": 5061,
        "limit": 2000,
        "key": "customer 7",
        "reason": "needs a batch of 5061 bytes, the target's max.message.bytes is 2000",
    }


def test_a_key_is_shown_as_it_can_be() -> None:
    assert told(None) == {"key": None}
    assert told(b"\xff\xfe") == {"key_base64": "//4="}
    assert told(b"x" * 1025) == {"key_size": 1025}
