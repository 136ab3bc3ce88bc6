"""A status of each kind, with something in every field that has no default."""

from __future__ import annotations

from heliograph.mm2.state_records import FlowStatus, PartitionStatus
from heliograph.model import PartitionState

PARTITION = PartitionStatus(
    topic="orders",
    partition=3,
    flow="us->eu",
    position=7,
    source_end=9,
    copied_ms=1_700_000_000_000,
    state=PartitionState.RETRYING,
    error="größer",
)
FLOW = FlowStatus(
    flow="us->eu",
    source="us",
    target="eu",
    source_id="abc",
    target_id=None,
    policy="DefaultReplicationPolicy",
    state="RUNNING",
    at_ms=1,
    problems={"topic x": "refused"},
)
