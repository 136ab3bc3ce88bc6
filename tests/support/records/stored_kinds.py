"""One record of each kind that a mirror stores in Kafka, as this version writes it."""

from __future__ import annotations

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.connect.offsets import source_offset_key, source_offset_value
from heliograph.mm2.heartbeat import Heartbeat
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.state_records import (
    EventRecord,
    Failure,
    FlowStatus,
    GapRecord,
    LogsRecord,
    OffsetMapSegment,
    PartitionStatus,
    ProducerSnapshotRecord,
)
from heliograph.model import (
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)

_PARTITION = TopicPartition("orders", 3)
_ORIGIN = TopicIdPair("9W6I1UfGQ2a01HVHAiJ8IA", "diCDMaEyTS2vxlov3_LB1A")
_MARK = LeaderEpochMark(120, 7, ((5, 90), (7, 110)))


def _snapshot() -> ProducerSnapshotRecord:
    snapshot = ProducerSnapshot(
        upstream=120,
        downstream=95,
        sequence=95,
        identity=ProducerIdentity(4711, 2),
        stored=(-1, 60, 120),
        isolation=IsolationLevel.READ_COMMITTED,
        mark=_MARK,
    )
    return ProducerSnapshotRecord(
        topic_partition=_PARTITION, remote_topic="us.orders", snapshot=snapshot
    )


def _segment(*ranges: OffsetRange) -> OffsetMapSegment:
    return OffsetMapSegment(topic_partition=_PARTITION, first=60, ranges=ranges, origin=_ORIGIN)


def _status() -> PartitionStatus:
    return PartitionStatus(
        topic="orders",
        partition=3,
        flow="us->eu",
        position=120,
        source_end=130,
        copied_ms=1_700_000_000_000,
        state=PartitionState.RETRYING,
        error="no leader",
        mark=_MARK,
        origin=_ORIGIN,
        throttled=True,
    )


def _gaps() -> GapRecord:
    return GapRecord(
        topic="orders",
        partition=3,
        flow="us->eu",
        gaps=2,
        unmirrored=10,
        last=Gap(GapKind.OVERTAKEN, 50, 60, -1, 1_700_000_000_000),
        failure=Failure(position=50, stored=49),
    )


def _flow() -> FlowStatus:
    return FlowStatus(
        flow="us->eu",
        source="us",
        target="eu",
        source_id="uYH0IUm6iJho58WRMB1m7A",
        target_id="LTMBP7bEcaZC7yzLMhaMvA",
        policy="DefaultReplicationPolicy",
        state="RUNNING",
        at_ms=1_700_000_005_000,
        since_ms=1_700_000_000_000,
        topics=("orders.*",),
        topics_exclude=("__.*",),
        refused=("eu.orders",),
        problems={"flow us->eu: copy": "no leader"},
        restarts=1,
    )


def _event() -> EventRecord:
    return EventRecord(
        flow="us->eu",
        severity="error",
        number=1_517,
        at_ms=1_700_000_000_000,
        kind="gap",
        subject="flow us->eu",
        message="orders-3: source offsets 50 to 59 were deleted before they were mirrored",
    )


def stored_kinds() -> dict[str, tuple[bytes, bytes | None]]:
    """Key and value, by kind."""
    ranges = OffsetRange(60, 40, 20), OffsetRange(85, 60, 35)
    records = {
        "producer snapshot": _snapshot(),
        "offset map segment": _segment(*ranges),
        "offset map tombstone": _segment(),
        "partition status": _status(),
        "gaps": _gaps(),
        "flow status": _flow(),
        "event": _event(),
        "logs": LogsRecord(
            connector="us->eu", topic="orders", origin=_ORIGIN, syncs_id="abc", syncs_from=5
        ),
        "offset sync": OffsetSync("orders", 3, 120, 95),
        "checkpoint": Checkpoint("billing", "us.orders", 3, 110, 85, "noted"),
        "heartbeat": Heartbeat("us", "eu", 1_700_000_000_000),
    }
    found = {kind: (record.key(), record.value()) for kind, record in records.items()}
    key = source_offset_key("MirrorSourceConnector", "us", "orders", 3)
    return {**found, "source offset": (key, source_offset_value(119))}
