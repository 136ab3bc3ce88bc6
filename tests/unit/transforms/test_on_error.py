"""Which records go on, stop the partition, are quarantined or skipped."""

from __future__ import annotations

from heliograph.model import OnError
from heliograph.transforms.on_error import Verdict, judge
from heliograph.transforms.rows import Failure

LATE, EARLY = Failure(9, "mask", "not JSON"), Failure(4, "cast", "out of range")


def test_without_failures_everything_goes_on_under_any_policy() -> None:
    assert [judge([], policy) for policy in OnError] == [Verdict()] * 3


def test_fail_stops_before_the_first_record_that_failed() -> None:
    assert judge([LATE, EARLY], OnError.FAIL) == Verdict(end=4, stopped_by=EARLY)


def test_quarantine_and_skip_name_every_record_in_the_order_of_the_log() -> None:
    assert judge([LATE, EARLY], OnError.QUARANTINE) == Verdict(quarantined=(EARLY, LATE))
    assert judge([LATE, EARLY], OnError.SKIP) == Verdict(skipped=(EARLY, LATE))
