"""The arithmetic of the benchmark, whose errors would go unnoticed otherwise."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.measures.latency import summarise
from benchmarks.results import Results, Row
from benchmarks.shapes import SHAPES, value_pool
from benchmarks.systems import System
from benchmarks.targets import verdicts
from harness.process_tree import Sample, departed

MS = 1_000_000


def _sample(parent: int, own: float, reaped: float = 0.0) -> Sample:
    return Sample(parent=parent, own=own, reaped=reaped)


def test_the_cpu_of_a_child_that_was_waited_for_is_counted_once() -> None:
    before = {1: _sample(0, 1.0), 2: _sample(1, 5.0)}
    now = {1: _sample(0, 1.0, reaped=5.1)}

    assert departed(before, now) == 0


def test_the_cpu_of_a_child_that_nobody_waited_for_is_kept() -> None:
    before = {1: _sample(0, 1.0), 2: _sample(1, 5.0)}
    now = {1: _sample(0, 1.0)}

    assert departed(before, now) == 5.0


def test_a_parent_accounts_for_as_many_children_as_its_counter_holds() -> None:
    before = {1: _sample(0, 1.0), 2: _sample(1, 5.0), 3: _sample(1, 4.0)}
    now = {1: _sample(0, 1.0, reaped=5.0)}

    assert departed(before, now) == 4.0


def test_a_tree_that_ends_whole_keeps_all_its_cpu() -> None:
    before = {1: _sample(0, 1.0, reaped=2.0), 2: _sample(1, 5.0)}

    assert departed(before, {}) == 8.0


def test_latency_counts_records_sent_in_the_measured_time_only() -> None:
    seen = array("q")
    for number in range(100):
        seen.extend((number, number * MS, number * MS + (number + 1) * MS))

    found = summarise(seen, begin=50 * MS, end=100 * MS)

    assert found["records"] == 50
    assert found["p50_ms"] == 76.0
    assert found["max_ms"] == 100.0
    assert found["missing_records"] == 0


def test_latency_tells_missing_and_doubled_records() -> None:
    seen = array("q", [0, 0, MS, 2, 0, MS, 2, 0, 9 * MS])

    found = summarise(seen, begin=0, end=1)

    assert (found["missing_records"], found["surplus_records"]) == (1, 1)
    assert found["max_ms"] == 1.0


def test_latency_of_nothing_is_an_error() -> None:
    with pytest.raises(BenchmarkError, match="no record"):
        summarise(array("q"), begin=0, end=1)


def test_a_row_holds_medians_and_null_for_what_was_not_measured(tmp_path: Path) -> None:
    results = Results(tmp_path / "latest.json", merge=False)
    for rate in (3.0, 1.0, 2.0):
        results.add("100b-none", System.MM2, {"records_per_s": rate})

    [row] = results.rows()

    assert row["records_per_s"] == 2.0
    assert row["p99_ms"] is None
    assert len(row["rounds"]) == 3


def test_merge_keeps_rows_that_are_not_measured_again(tmp_path: Path) -> None:
    earlier = Results(tmp_path / "latest.json", merge=False)
    earlier.add("100b-none", System.MM2, {"records_per_s": 1.0})
    earlier.add("100b-none", System.HELIOGRAPH, {"records_per_s": 2.0})
    earlier.write()

    later = Results(tmp_path / "latest.json", merge=True)
    later.add("100b-none", System.HELIOGRAPH, {"records_per_s": 9.0})

    found = {row["system"]: row["records_per_s"] for row in later.rows()}
    assert found == {"mm2": 1.0, "heliograph": 9.0}


@pytest.mark.parametrize(("rate", "met"), [(4.0, True), (3.9, False)])
def test_a_target_is_met_at_its_bound(rate: float, met: bool) -> None:
    rows = [_row(System.MM2, 1.0), _row(System.HELIOGRAPH, rate)]

    [verdict] = verdicts(rows)

    assert verdict.met is met
    assert verdict.text == "records_per_s >= 4 x mm2"


@pytest.mark.parametrize(("stops", "met"), [((1.0, 5.0), True), ((5.1, 1.0), False)])
def test_a_mirror_that_once_stopped_late_misses_its_target(
    stops: tuple[float, float], met: bool
) -> None:
    row = _row(System.HELIOGRAPH, 1.0)
    row["rounds"] = [{"stop_s": each} for each in stops]

    [verdict] = verdicts([row])

    assert (verdict.text, verdict.ratio, verdict.met) == ("stop_s <= 5", max(stops), met)


def _row(system: System, rate: float) -> Row:
    empty = dict.fromkeys(("cpu_s_per_gb", "first_record_s", "peak_rss_mb", "p99_ms"))
    return {
        "shape": "100b-none",
        "system": system.value,
        "records_per_s": rate,
        **empty,
        "rounds": [],
    }


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_values_have_the_sizes_that_the_shape_promises(shape) -> None:  # type: ignore[no-untyped-def]
    smallest, largest = shape.value_bytes

    assert all(smallest <= len(value) <= largest for value in value_pool(shape))
