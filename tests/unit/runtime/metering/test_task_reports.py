from __future__ import annotations

from dataclasses import replace

from heliograph.runtime.metering.task_reports import TaskReports
from support.snapshots import FLOW, REPORT


def test_counters_go_on_when_an_epoch_begins_anew_at_0() -> None:
    reports = TaskReports(lambda: 100.0)
    reports.update(0, [REPORT])
    reports.update(1, [REPORT])
    reports.begin()
    reports.update(0, [replace(REPORT, throttled_seconds=0.5)])
    total = reports.total(FLOW)

    assert total is not None
    assert total.throttled_seconds == 3.5
    assert total.source.received_bytes == 15000
    assert total.target.requests.count == 3
    assert total.offset_commits.count == 6


def test_certificates_of_tasks_that_have_ended_do_not_matter_any_more() -> None:
    reports = TaskReports(lambda: 100.0)
    reports.update(0, [REPORT])
    reports.begin()
    total = reports.total(FLOW)
    assert total is not None
    assert total.source.broker_certificate_ends is None
    renewed = replace(REPORT.source, broker_certificate_ends=2000000000.0)
    reports.update(0, [replace(REPORT, source=renewed)])
    reports.update(1, [REPORT])
    total = reports.total(FLOW)
    assert total is not None
    assert total.source.broker_certificate_ends == REPORT.source.broker_certificate_ends


def test_a_newer_report_of_a_task_replaces_the_one_before() -> None:
    now = [100.0]
    reports = TaskReports(lambda: now[0])
    reports.update(0, [replace(REPORT, throttled_seconds=0.1)])
    reports.update(0, [REPORT])
    now[0] = 102.0

    assert reports.running(FLOW) == {0: (REPORT, 2.0)}
    assert reports.total(FLOW) == REPORT
    assert reports.ages(FLOW) == {0: 2.0}


def test_between_two_epochs_the_last_reports_still_have_an_age() -> None:
    """Or a flow would have no data for a moment at every change of epoch."""
    now = [100.0]
    reports = TaskReports(lambda: now[0])
    reports.update(0, [REPORT])
    reports.begin()
    now[0] = 101.0

    assert reports.running(FLOW) == {}
    assert reports.ages(FLOW) == {0: 1.0}


def test_a_flow_without_reports_has_no_total() -> None:
    assert TaskReports().total("x->y") is None
