"""Figures of the benchmark of many topics, from logs and internal topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measures.crowd import spread
from benchmarks.measures.job_log import JobLog, parse
from benchmarks.measures.watching import parse_checkpoint, parse_offset_sync
from benchmarks.report import own_table, table
from benchmarks.results import MANY_FIGURES, Row, late
from benchmarks.shapes import named
from benchmarks.systems import Assignment, System
from benchmarks.targets import verdicts
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.offset_sync import OffsetSync


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            b"[2026-11-16 00:34:30,179] INFO refreshing topics took 374 ms (o.a.k.Scheduler)",
            ("refreshing topics", 374),
        ),
        (b"00:37:17 INFO flow a->b: topics took 63 ms", ("topics", 63)),
        (b"00:37:17 INFO flow a->b: group offsets took 5 ms", ("group offsets", 5)),
        (b"00:37:17 INFO flow a->b: created a.orders with 5 partitions", None),
        (b"[2026-11-16 00:34:30,179] ERROR x took too long (3 ms) running task: y", None),
    ],
)
def test_a_log_line_tells_how_long_a_job_took(line: bytes, found: tuple[str, int] | None) -> None:
    assert parse(line) == found


def test_a_log_that_grows_is_read_on_from_where_it_ended(tmp_path: Path) -> None:
    assignment = _assignment(System.HELIOGRAPH, tmp_path)
    log = JobLog(assignment)
    log.read()
    assignment.output.write_text(
        "00:00:01 INFO flow a->b: topics took 10 ms\n00:00:02 INFO flow a->b: topi"
    )
    log.read()
    with assignment.output.open("a") as out:
        out.write("cs took 30 ms\n")
    log.read()

    assert [run.seconds for run in log.runs("refresh_ms")] == [0.01, 0.03]
    assert log.median_ms("refresh_ms", since=0) == 20.0
    assert log.mean_ms("refresh_ms", since=0) == 20.0


def test_a_job_in_two_parts_takes_as_long_as_both(tmp_path: Path) -> None:
    parts = (
        "refreshing idle consumers group offsets at target cluster took 100 ms",
        "sync idle consumer group offset from source to target took 20 ms",
    )
    (tmp_path / "mm2.log").write_text("".join(f"[now] INFO {part} (x)\n" for part in parts))
    log = JobLog(_assignment(System.MM2, tmp_path))
    log.read()

    assert log.median_ms("sync_groups_ms", since=0) == 120.0
    assert log.median_ms("sync_configs_ms", since=0) is None
    assert log.median_ms("emit_checkpoints_ms", since=0) is None


def test_jobs_from_before_the_measured_time_do_not_count(tmp_path: Path) -> None:
    assignment = _assignment(System.HELIOGRAPH, tmp_path)
    assignment.output.write_text("00:00:01 INFO flow a->b: topics took 10 ms\n")
    log = JobLog(assignment)
    log.read()

    assert log.median_ms("refresh_ms", since=log.runs("refresh_ms")[0].at) is None


def test_checkpoints_are_read_as_they_are_written() -> None:
    checkpoint = Checkpoint("billing", "us.orders", 3, 70, 65, "")

    found = parse_checkpoint(checkpoint.key(), checkpoint.value())

    assert found == (("billing", "us.orders", 3), 70)


def test_offset_syncs_are_read_as_they_are_written() -> None:
    sync = OffsetSync("orders", 3, 70, 65)

    assert parse_offset_sync(sync.key(), sync.value()) == (("orders", 3), 70)


def test_groups_are_spread_evenly_over_all_topics() -> None:
    topics = [f"t{number}" for number in range(50)]

    groups = spread(topics, 25)

    counts = [sum(topic in group for group in groups) for topic in topics]
    assert {len(group) for group in groups} == {10}
    assert set(counts) == {5}


def test_a_quick_run_keeps_the_records_of_each_partition() -> None:
    [shape] = named(["many-topics"])
    quick = shape.quick()

    each = [s.records / (s.topics * s.partitions) for s in (shape, quick)]
    assert each == [5, 5]
    assert (quick.topics, quick.groups) == (50, 25)


def test_many_topics_have_a_table_of_their_own_and_targets_for_every_time() -> None:
    rows = [_row(System.MM2, 2.0), _row(System.HELIOGRAPH, 3.0)]

    found = {each.text: each for each in verdicts(rows)}

    assert table(rows) == ""
    assert "1.50x" in own_table(rows)
    assert not found["refresh_ms <= 1 x mm2"].met
    assert "end_rss_mb <= 1 x mm2" not in found
    assert "refresh_mean_ms <= 1 x mm2" in found


def test_a_figure_that_was_given_up_on_is_a_lower_bound() -> None:
    figure = "checkpoints_s"
    slow, quick = _row(System.MM2, 300.0, figure), _row(System.HELIOGRAPH, 3.0)
    given_up = _row(System.HELIOGRAPH, 300.0, figure)

    assert "> 300" in own_table([slow, quick])
    assert _verdict([slow, quick], figure)
    assert not _verdict([slow, given_up], figure)
    assert not _verdict([_row(System.MM2, 400.0), given_up], figure)


def _verdict(rows: list[Row], figure: str) -> bool:
    return next(each.met for each in verdicts(rows) if each.text.startswith(figure))


def _row(system: System, value: float, *given_up: str) -> Row:
    figures = dict.fromkeys(MANY_FIGURES, value)
    rounds = [{late(figure): 1.0 for figure in given_up}]
    return {"shape": "many-topics", "system": system.value, **figures, "rounds": rounds}


def _assignment(system: System, folder: Path) -> Assignment:
    return Assignment(system=system, run="r1", topic="t", source="s", target="t", folder=folder)
