"""Receipts on their way through Spark."""

from __future__ import annotations

from types import SimpleNamespace

from heliograph.model import PartitionState, Receipt, Stretch
from heliograph.pipeline.leases import RECEIPTS, RECEIPTS_DDL, read_receipt, write_receipts

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
    stretches=(Stretch(0, 7, 100), Stretch(101, -1, 5)),
)


def test_a_receipt_is_the_same_behind_spark() -> None:
    (row,) = write_receipts([RECEIPT]).to_pylist()

    assert read_receipt(SimpleNamespace(**row, asDict=lambda: row)) == RECEIPT


def test_both_schemas_have_the_same_columns() -> None:
    assert [column.split()[0] for column in RECEIPTS_DDL.split(", ")] == RECEIPTS.names
