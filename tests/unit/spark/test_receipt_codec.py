"""A receipt is the same behind the control channel, with all that it may hold."""

from __future__ import annotations

import json
from dataclasses import fields

from heliograph.measured import BatchCounts
from heliograph.model import (
    AckedOffsets,
    Gap,
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
)
from heliograph.spark.receipt_codec import from_json, to_json
from heliograph.spark.task_report_codec import report_from_json, report_to_json
from support.snapshots import REPORT, times

SNAPSHOT = ProducerSnapshot(
    *(5, 17, 12, ProducerIdentity(4000, 0), (-1, 3)),
    isolation=IsolationLevel.READ_COMMITTED,
    mark=LeaderEpochMark(7, 2, ((2, 5),)),
)
RECEIPT = Receipt(
    flow="a->b",
    topic="orders",
    partition=3,
    position=5,
    records=2,
    bytes=100,
    source_end=9,
    stored=True,
    state=PartitionState.RETRYING,
    error="no leader",
    copied_ms=1_700_000_000_000,
    foreign=4,
    fallbacks=1,
    quarantined=2,
    throttled=True,
    snapshot=SNAPSHOT,
    mark=LeaderEpochMark(7, 2),
    generation=3,
    recheck=True,
    acked_offsets=AckedOffsets(5, 18, 17, 4),
    gaps=(Gap(GapKind.OVERTAKEN, 1, 5, 5, 1_700_000_000_000),),
    ranges=(OffsetRange(0, 7, 100), OffsetRange(101, -1, 5)),
    newest_ms=1_700_000_000_500,
    resumes=2,
    batches=BatchCounts(1, 2, 3, 4, 5),
    ages=times(0.2, 7.0),
    latencies=times(0.5),
    skipped=3,
    wanted="away",
)


def test_a_receipt_with_everything_is_the_same_behind_json() -> None:
    assert from_json(json.loads(json.dumps(to_json(RECEIPT)))) == RECEIPT


def test_every_field_has_a_value_of_its_own_in_this_test() -> None:
    plain = Receipt(
        *(), flow="", topic="", partition=0, position=0, records=0, bytes=0, source_end=0,
        stored=False, state=PartitionState.RUNNING,
    )  # fmt: skip
    same = [f.name for f in fields(Receipt) if getattr(plain, f.name) == getattr(RECEIPT, f.name)]
    assert same == []


def test_what_is_not_there_stays_away() -> None:
    plain = Receipt(
        flow="a->b",
        topic="orders",
        partition=0,
        position=0,
        records=0,
        bytes=0,
        source_end=-1,
        stored=True,
        state=PartitionState.RUNNING,
    )
    assert from_json(json.loads(json.dumps(to_json(plain)))) == plain


def test_a_task_report_is_the_same_behind_json() -> None:
    assert report_from_json(json.loads(json.dumps(report_to_json(REPORT)))) == REPORT


def test_a_receipt_that_was_sent_has_no_news_left() -> None:
    sent = RECEIPT.without_news()

    assert (sent.ranges, sent.gaps) == ((), ())
    assert not sent.ages.is_news
    assert (sent.ages.count, sent.ages.total) == (RECEIPT.ages.count, RECEIPT.ages.total)
    assert sent.without_news() is sent
