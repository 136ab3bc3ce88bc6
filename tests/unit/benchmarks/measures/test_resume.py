"""Resume times in the log of a mirror that was killed and started again."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measures.resume import resumed
from benchmarks.report import own_table, table
from benchmarks.results import Results
from benchmarks.systems import System
from benchmarks.targets import verdicts

LOG = """
02:00:01 INFO flow a->b: stored offsets and snapshots took 120 ms
02:00:02 INFO flow a->b: recovered 250 partitions in 480 ms: 1000 records are already on the target
02:00:02 INFO flow a->b: recovered 250 partitions in 380 ms: already on the target: 2,000 records
02:00:09 INFO flow a->b: stored offsets and snapshots took 9000 ms
"""


def test_the_driver_reads_first_and_the_tasks_look_at_the_same_time() -> None:
    found = resumed(LOG)

    assert found is not None
    assert (found.partitions, found.seconds, found.dropped) == (500, 0.6, 3000)
    assert found.per_100 == 0.12


def test_a_log_that_does_not_tell_gives_no_figure() -> None:
    assert resumed("02:00:01 INFO flow a->b: stored offsets and snapshots took 120 ms") is None


def test_a_mirror_that_resumes_slowly_or_copies_twice_misses_its_targets(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json", merge=False)
    found = {"resumed_s": 6.0, "resume_s_per_100": 1.2, "surplus_records": 7.0}
    results.add("resume-500", System.HELIOGRAPH, found)
    rows = results.rows()

    assert [each.met for each in verdicts(rows)] == [False, False]
    assert "surplus_records" in own_table(rows)
    assert table(rows) == ""
