"""What a mirror stores in Kafka keeps its bytes, so that an earlier version can take it over.

`read_by_d137458.json`, recorded by `scripts/read_by_version.py`, has the bytes and what d137458's readers
returned for them. d137458 is not part of this repository, so this test compares the bytes. If they change on
purpose, record again and check what d137458 reads. The other direction is tested by
tests/real/mirror/faults/test_recorded_mirror.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.records.stored_kinds import stored_kinds

RECORDED = json.loads(Path(__file__).with_name("read_by_d137458.json").read_text())
#: d137458 does not know these kinds, logs so, and skips the records.
UNKNOWN = {"logs", "event"}


def test_every_kind_is_recorded() -> None:
    assert stored_kinds().keys() == RECORDED.keys()


@pytest.mark.parametrize("kind", RECORDED)
def test_a_record_has_the_bytes_that_d137458_reads(kind: str) -> None:
    key, value = stored_kinds()[kind]

    assert key == bytes.fromhex(RECORDED[kind]["key"])
    assert value == (RECORDED[kind]["value"] and bytes.fromhex(RECORDED[kind]["value"]))


@pytest.mark.parametrize("kind", RECORDED)
def test_d137458_understood_it(kind: str) -> None:
    malformed = RECORDED[kind]["read"].startswith("Malformed(")

    assert malformed == (kind in UNKNOWN)
