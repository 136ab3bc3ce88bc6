"""Reports of lost and doubled source offsets, in a mirror's log."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from chaos.judging.reports import Report, Where, parse, ranges, read_reports

_TOPICS = ["c1-plain", "c1-transactions"]
_PASSED_OVER = (
    "[2026-11-17 23:59:58,120] ERROR c1-de->c1-de-t: c1-plain-3: source offsets 10 to 19 are "
    "skipped: the source deleted them before they were mirrored; continuing at offset 20"
)
_FALLBACK = (
    "[2026-11-18 00:00:02,007] WARN flow c1-de->c1-de-t: c1-transactions-0: cannot determine which "
    "records from source offset 500 on reached the target: a reason; resuming there, duplicates possible"
)


def _parse(*lines: str) -> list[Report]:
    return parse(lines, _TOPICS)


def test_a_range_of_source_offsets_is_a_report_of_its_partition() -> None:
    (report,) = _parse(_PASSED_OVER)

    assert (report.where, report.first, report.end) == (("c1-plain", 3), 10, 20)
    assert report.error
    assert not report.duplicates


def test_where_the_copy_goes_on_widens_no_report_and_warns_of_no_duplicates() -> None:
    (report,) = _parse(
        "[2026-11-17 23:59:58,120] ERROR c1-de->c1-de-t: c1-plain-3: the target has lost records of source "
        "offsets 10 to 19; copying them again from source offset 10"
    )

    assert (report.first, report.end, report.duplicates) == (10, 20, False)


def test_a_report_without_an_end_reaches_to_the_sources_end_at_that_moment() -> None:
    (report,) = reports = _parse(_FALLBACK)

    def end_at(where: Where, at: datetime) -> int:
        assert at == datetime(2026, 11, 18, 0, 0, 2)  # noqa: DTZ001 - past midnight
        return 900

    assert report.end is None
    assert ranges(reports, ("c1-transactions", 0), end_at, duplicates=True) == [range(500, 900)]
    assert ranges(reports, ("c1-transactions", 0), end_at, errors_only=True) == []
    assert ranges(reports, ("c1-transactions", 1), end_at) == []


def test_only_warnings_and_errors_that_name_a_partition_of_the_source_are_reports() -> None:
    others = [
        _PASSED_OVER.replace("ERROR", "INFO"),
        _PASSED_OVER.replace("c1-plain-3", "c11-plain-3"),
        _PASSED_OVER.replace("c1-plain-3", "c1-de.c1-plain-3"),
        "[2026-11-18 12:00:00,000] ERROR c1-plain-3: no leader",
        "[2026-11-18 12:00:00,000] ERROR c1-plain-3 at source offset 10: the record is too large",
        "source offsets 10 to 19 of c1-plain-3",
    ]

    assert _parse(*others) == []


def test_reports_are_those_of_all_processes_of_a_service(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"output-{number}-1789000000000000000.log").write_text(f"{_PASSED_OVER}\n")

    assert len(read_reports(tmp_path, _TOPICS)) == 2
