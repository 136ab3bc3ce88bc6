"""A user's function over records: what it returns is checked before it goes anywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pyarrow as pa
import pytest

from heliograph.errors import ConfigError
from heliograph.records.columns import columns_of
from heliograph.records.decode import Record
from heliograph.spark.lane_function import FunctionFailed, LaneFunction
from heliograph.spark.record_columns import to_arrow

BATCH = to_arrow(
    columns_of([Record(offset=n, timestamp=n, key=b"k", value=b"%d" % n) for n in range(10)]),
    "t",
    0,
)


def lane(function: Callable[[pa.RecordBatch], object]) -> LaneFunction:
    return LaneFunction("mine:keep", function)


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("mine")
    module.keep = lambda batch: batch.slice(2, 3)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", module)
    return module


def test_a_function_may_leave_records_out(mine: ModuleType) -> None:
    found = LaneFunction.load("mine:keep").apply(BATCH)

    assert found.column("offset").to_pylist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine", "expected module:function, found 'mine'"),
        ("mine:kep", "mine has no function kep; did you mean keep"),
        ("not_there_at_all:f", "not_there_at_all cannot be imported .ModuleNotFoundError"),
    ],
)
def test_a_function_that_cannot_be_found_is_named(
    mine: ModuleType, text: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        LaneFunction.load(text)


def _raises(_: pa.RecordBatch) -> object:
    raise KeyError("secret of a record")


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (_raises, "raised KeyError"),
        (lambda batch: batch.to_pylist(), "expected a pyarrow.RecordBatch, found list"),
        (lambda batch: batch.drop_columns(["value"]), "column value is missing"),
        (
            lambda batch: batch.rename_columns(
                [n.replace("value", "valeu") for n in batch.schema.names]
            ),
            "column value is missing in what it returned; did you mean valeu",
        ),
        (
            lambda batch: batch.set_column(3, "timestamp", batch.column(3).cast(pa.string())),
            "column timestamp has type string, expected int64",
        ),
        (lambda batch: batch.take(pa.array([1, 0])), "out of the order of their offsets"),
        (lambda batch: batch.take(pa.array([1, 1])), "out of the order of their offsets"),
        (
            lambda batch: batch.set_column(2, "offset", pa.array(range(5, 15), pa.int64())),
            "returned offset 10, which it was not given",
        ),
    ],
)
def test_what_cannot_be_copied_is_refused(
    function: Callable[[pa.RecordBatch], object], sentence: str
) -> None:
    with pytest.raises(FunctionFailed, match=sentence) as refused:
        lane(function).apply(BATCH)
    assert "secret" not in str(refused.value)
